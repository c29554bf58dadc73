"""Selects tests by tag, and by patterns of their id or name."""

import re
from collections.abc import Collection, Iterable, Sequence
from fnmatch import translate

from arena.catalog.test import Test
from arena.catalog.tests import filtered, with_different
from arena.errors import NotFound


def selected(
    tests: Iterable[Test], *, tags: Collection[str] = (), match: Sequence[str] = ()
) -> Sequence[Test]:
    """The tests with one of the tags whose id or name matches one of the patterns.

    No tags, or no patterns, select every test. Patterns are shell-style (`*`, `?`, `[a-z]`); upper
    and lower case are the same.
    """
    patterns = [re.compile(translate(pattern.casefold())) for pattern in match]

    def is_selected(test: Test) -> bool:
        return (not tags or not set(tags).isdisjoint(test.tags)) and (
            not patterns or _matches(test, patterns)
        )

    return filtered(tests, is_selected, *(["id"] if patterns else ["tags"] if tags else []))


def check_tags(tags: Collection[str], tests: Iterable[Test]) -> None:
    """Refuse a tag that no test has: it is misspelt."""
    if not tags:
        return
    known = {tag for test in with_different(tests, "tags") for tag in test.tags}
    for tag in tags:
        if tag not in known:
            raise NotFound.among("tag", tag, known)


def described(
    *, category: str | None = None, tags: Collection[str] = (), match: Collection[str] = ()
) -> str:
    """A selection in words, to follow `no test`; empty if nothing was selected by."""
    parts = [f" in category {category!r}"] if category else []
    parts += [f" with the tag {_either(tags)}"] if tags else []
    parts += [f" whose id or name matches {_either(match)}"] if match else []
    return "".join(parts)


def _either(names: Collection[str]) -> str:
    return " or ".join(map(repr, names))


def _matches(test: Test, patterns: Iterable[re.Pattern[str]]) -> bool:
    texts = test.id.casefold(), test.name.casefold()
    return any(pattern.match(text) for pattern in patterns for text in texts)
