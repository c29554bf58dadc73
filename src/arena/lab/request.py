"""A prompt, understood: its ideas, the things it names, its limits."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.lab.concepts import TABLE, Concept, concepts_in
from arena.lab.names import Mention, Names
from arena.lab.records import Platform
from arena.lab.words import (
    MAX_WORDS,
    STOPWORDS,
    duration_ms,
    literal_names,
    stem,
    words_of,
)

KNOWN_WORDS = frozenset(word for phrase in TABLE for word in phrase)
"""The words that concepts are made of; they are never taken for a misspelt name."""
COMMON_STEMS = frozenset(stem(word) for word in STOPWORDS)
MAX_CORRECTIONS = 12
"""Unknown words that are compared with all names; comparing is the slowest thing done here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a prompt asks for, as far as words tell."""

    prompt: str
    concepts: frozenset[Concept]
    mentions: tuple[Mention, ...]
    unknown: tuple[str, ...]
    """Names in the prompt, marked as such, that nothing in the lab has."""
    rest: tuple[str, ...]
    """The words that are neither common, nor an idea, nor part of a name."""
    stems: tuple[str, ...]
    read_as: tuple[tuple[str, str], ...]
    """Words that were taken for misspelt ones, with what they were read as."""
    limit_ms: int | None
    words_read: int

    def names(self, kind: str) -> tuple[str, ...]:
        """The ids of the things of one kind that are mentioned, the surest first."""
        ranked = sorted((m for m in self.mentions if m.kind == kind), key=lambda m: -m.words)
        return tuple(dict.fromkeys(mention.name for mention in ranked))

    def starts_from(self, mention: Mention) -> bool:
        """True where the thing is named as a start: `from the cart to the checkout`."""
        return "from" in self.stems[max(0, mention.place - 2) : mention.place]

    @property
    def focus(self) -> frozenset[str]:
        """The words that tell one thing from others of its kind."""
        return frozenset(
            word for word in self.stems if word not in KNOWN_WORDS and word not in COMMON_STEMS
        )

    @property
    def platforms(self) -> frozenset[Platform]:
        """The platforms that the prompt speaks of."""
        ideas = {concept.value for concept in self.concepts}
        return frozenset(platform for platform in Platform if platform.value in ideas)


def understand(prompt: str, names: Names) -> Request:
    """Reads a prompt."""
    words = words_of(prompt)[:MAX_WORDS]
    limit_ms = duration_ms(prompt)
    literals = literal_names(prompt[: MAX_WORDS * 20])
    stems, read_as = spelling(words, names, literals)
    mentions = names.mentioned_in(stems)
    # A name of one word is often a common word too ("search"), so it keeps its meaning as a word.
    taken = {m.place + n for m in mentions if m.words > 1 for n in range(m.words)}
    free = [s if n not in taken else "" for n, s in enumerate(stems)]
    return Request(
        prompt=prompt,
        concepts=concepts_in(free),
        mentions=mentions,
        unknown=tuple(name for name in literals if is_name(name) and not names.has(name)),
        rest=leftover(words, free, mentions, timed=limit_ms is not None),
        stems=stems,
        read_as=read_as,
        limit_ms=limit_ms,
        words_read=len(words),
    )


def spelling(
    words: Sequence[str], names: Names, literals: Sequence[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The stems of the words, with slips of the pen put right outside of marked names."""
    marked = {word for literal in literals for word in words_of(literal)}
    known = KNOWN_WORDS | set(names.words)
    stems: list[str] = []
    read_as: dict[str, str] = {}
    for word in words:
        plain = stem(word)
        ordinary = word in STOPWORDS or word in marked or plain in known
        if not ordinary and (word in read_as or len(read_as) < MAX_CORRECTIONS):
            read_as[word] = names.corrected(word)
            plain = read_as[word]
        stems.append(plain)
    changed = tuple((word, names.spellings[to]) for word, to in read_as.items() if to != stem(word))
    return tuple(stems), changed


def is_name(literal: str) -> bool:
    """True where a marked text can be a name; a quoted sentence cannot."""
    return 1 <= len(words_of(literal)) <= 6


def leftover(
    words: Sequence[str], free: Sequence[str], mentions: Sequence[Mention], *, timed: bool
) -> tuple[str, ...]:
    """The words that nothing has explained; with `timed`, numbers belong to a length of time."""
    named = {m.place + n for m in mentions for n in range(m.words)}
    return tuple(
        word
        for n, word in enumerate(words)
        if free[n] and n not in named and word not in STOPWORDS and free[n] not in KNOWN_WORDS
        if not (timed and word.isdecimal())
    )
