"""Which things of the lab a prompt speaks of: exactly, nearly, or by the words of a title."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.lab.lab import Lab
from arena.lab.words import STOPWORDS, stem, stems_of, words_of

NEAR = 0.85
"""How alike a misspelt word must be to the right one (difflib's ratio)."""
SHARED = 0.6
"""The share of a title's words that must stand in the prompt to be a mention of it."""
OFFERED = 3
"""How many near names an answer offers for one that does not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A thing of the lab that the prompt speaks of."""

    kind: str
    """userinterface, node, testcase, requirement, execution, device, host or service."""
    name: str
    """Its id. A node's id may stand in several trees."""
    words: int
    """How many words of the prompt it took: the more, the surer."""
    place: int
    """The number of its first word in the prompt."""


Phrase = tuple[str, ...]


class Names:
    """Every name in the lab, ready to be found in a text."""

    def __init__(self, lab: Lab) -> None:
        self.phrases: dict[Phrase, set[tuple[str, str]]] = {}
        self.titles: dict[tuple[str, str], frozenset[str]] = {}
        for kind, name, spellings in spelt(lab):
            for spelling in spellings:
                self.phrases.setdefault(stems_of(spelling), set()).add((kind, name))
        for case in lab.testcases:
            self.titles["testcase", case.id] = content(case.title)
        for requirement in lab.requirements:
            self.titles["requirement", requirement.id] = content(requirement.title)
        self.longest = max(len(phrase) for phrase in self.phrases)
        self.spellings: dict[str, str] = {}
        """A word as it is written, for each stem."""
        for word in all_words(lab):
            self.spellings.setdefault(stem(word), word)
        self.exact = {words_of(text) for _, _, texts in spelt(lab) for text in texts}
        self.words = sorted({word for phrase in self.phrases for word in phrase if len(word) > 3})

    def mentioned_in(self, stems: Sequence[str]) -> tuple[Mention, ...]:
        """The names in a text; a longer one hides the shorter ones inside it."""
        found: list[Mention] = []
        place = 0
        while place < len(stems):
            size = self.size_at(stems, place)
            for kind, name in sorted(self.phrases.get(tuple(stems[place : place + size]), ())):
                found.append(Mention(kind=kind, name=name, words=size, place=place))
            place += max(size, 1)
        return tuple(found)

    def size_at(self, stems: Sequence[str], place: int) -> int:
        """The number of words of the longest name that starts here."""
        sizes = range(min(self.longest, len(stems) - place), 0, -1)
        return next((n for n in sizes if tuple(stems[place : place + n]) in self.phrases), 0)

    def has(self, text: str) -> bool:
        """True where something is called this; an identifier must be right to the letter."""
        identifier = "_" in text or any(sign.isdecimal() for sign in text)
        return words_of(text) in self.exact or (not identifier and stems_of(text) in self.phrases)

    def titled(self, kind: str, stems: Iterable[str], focus: frozenset[str]) -> str | None:
        """The test case or requirement that a text describes without its exact name.

        Either most of the title's words stand in the text, or all words that carry the text's
        meaning stand in the title; of several, the one with the greatest share.
        """
        said = frozenset(stems)
        best, best_share = None, 0.0
        for (title_kind, name), title in self.titles.items():
            share = len(title & said) / len(title)
            fits = share >= SHARED or (bool(focus) and focus <= title)
            if title_kind == kind and fits and share > best_share:
                best, best_share = name, share
        return best

    def corrected(self, word: str) -> str:
        """The stem of the word, or the stem it was very probably meant to be."""
        plain = stem(word)
        if len(plain) < 4 or plain.isdecimal():
            return plain
        close = difflib.get_close_matches(plain, self.words, n=1, cutoff=NEAR)
        return close[0] if close else plain


def spelt(lab: Lab) -> Iterable[tuple[str, str, tuple[str, ...]]]:
    """Every thing of the lab with all the ways to write its name."""
    for ui in lab.userinterfaces:
        yield "userinterface", ui.id, (ui.id, ui.title, *ui.aliases)
        for node in ui.nodes:
            yield "node", node.id, (node.id, node.title, *node.aliases)
    for case in lab.testcases:
        yield "testcase", case.id, (case.id, case.title)
    for requirement in lab.requirements:
        yield "requirement", requirement.id, (requirement.id, requirement.title)
    for run in lab.executions:
        yield "execution", run.id, (run.id,)
    machines = lab.machines
    for host in machines.hosts:
        yield "host", host.id, (host.id, host.title, host.address)
    for device in machines.devices:
        yield "device", device.id, (device.id, device.title)
    for service in machines.services:
        yield "service", service.id, (service.id, service.title)


def all_words(lab: Lab) -> Iterable[str]:
    """Every word of every name, in the order of the lab."""
    for _, _, spellings in spelt(lab):
        for spelling in spellings:
            yield from words_of(spelling)


def content(text: str) -> frozenset[str]:
    """The stems of the words that carry the meaning of a text."""
    return frozenset(stem(word) for word in words_of(text) if word not in STOPWORDS)


def nearest_names(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known names that look most like this one, best first."""
    lowered = {item.casefold(): item for item in known}
    close = difflib.get_close_matches(name.casefold(), lowered, n=OFFERED, cutoff=0.6)
    return tuple(lowered[item] for item in close)
