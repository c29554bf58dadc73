"""A suite: tests that are measured together, and the version that they are."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from arena.catalog.test import Test

SHORT_DIGITS = 12
"""Of a version, where people read it."""


@dataclass(frozen=True, kw_only=True)
class Suite:
    """The active tests of a suite."""

    name: str
    label: str | None = None
    """What its author calls this version."""
    tests: tuple[Test, ...]
    folder: str | None = None
    """The digest of the path that gave the suite its name, as with `--tests`; None if its files or
    a project name it."""
    is_mixed: bool = False
    """Whether files named for one command are among those of the suite: not the suite itself."""
    is_elsewhere: bool = False
    """Whether the suite is known from files elsewhere that happen to be called the same."""
    files: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    """Files of the suite with problems, whose tests are missing."""

    @property
    def is_whole(self) -> bool:
        """Whether these are the tests that the suite usually has: only then a run counts."""
        return self.partial_because is None

    @property
    def partial_because(self) -> str | None:
        """Why these are not the tests that the suite usually has; None if they are."""
        if self.unread:
            return f"{self.unread[0]} has problems: see arena tests lint"
        if self.is_mixed:
            return f"files that were named for this command are added to the suite {self.name}"
        if self.is_elsewhere:
            return (
                f"the suite {self.name} is known from other files; give these a name of their own "
                "(suite: in the files), or the same one if they are that suite"
            )
        return None

    @cached_property
    def groups(self) -> dict[str, list[Any]] | None:
        """Category, tags and cluster of each test, by id; None if they are not known."""
        groups = {test.id: [test.category, list(test.tags), test.cluster] for test in self.tests}
        return groups or None

    @cached_property
    def manifest(self) -> dict[str, str]:
        """The fingerprint of each test, by id."""
        return {test.id: test.fingerprint for test in self.tests}

    @cached_property
    def version(self) -> str:
        """The digest of everything that can change a verdict."""
        return version_of(self.manifest)


@dataclass(frozen=True, kw_only=True)
class KnownVersion(Suite):
    """A version of which only the manifest is known: pushed, or of an earlier run."""

    tests: tuple[Test, ...] = ()
    fingerprints: Mapping[str, str]

    @cached_property
    def manifest(self) -> dict[str, str]:
        """The fingerprint of each test, by id."""
        return dict(self.fingerprints)


def version_of(manifest: Mapping[str, str]) -> str:
    """The version of a suite with these tests: their ids and fingerprints, in any order."""
    lines = (f"{test_id} {fingerprint}\n" for test_id, fingerprint in sorted(manifest.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def short_version(version: str) -> str:
    """A version as people read it."""
    return version[:SHORT_DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteDifference:
    """How the tests of one version differ from those of another."""

    added: list[str]
    removed: list[str]
    edited: list[str]
    same: int

    def __str__(self) -> str:
        counts = {"added": self.added, "removed": self.removed, "edited": self.edited}
        named = [f"{len(ids)} {word} ({_few(ids)})" for word, ids in counts.items() if ids]
        return ", ".join(named) or "no difference"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedTest:
    """A test that differs between two versions of a suite."""

    test_id: str
    keys: list[str]
    """What was edited; empty if one of the two was never run here."""


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> SuiteDifference:
    """How the manifest `after` differs from `before`."""
    both = sorted(before.keys() & after.keys())
    edited = [test_id for test_id in both if before[test_id] != after[test_id]]
    return SuiteDifference(
        added=sorted(after.keys() - before.keys()),
        removed=sorted(before.keys() - after.keys()),
        edited=edited,
        same=len(both) - len(edited),
    )


def _few(ids: Sequence[str], most: int = 3) -> str:
    return ", ".join(ids[:most]) + (", …" if len(ids) > most else "")
