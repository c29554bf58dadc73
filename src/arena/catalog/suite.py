"""A suite: tests that are measured together, and the version that they are."""

import hashlib
import heapq
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from arena.catalog.test import Test, cluster_of, fingerprint_of, place_number
from arena.catalog.tests import parts_of

SHORT_DIGITS = 12
"""Of a version, where people read it."""


class SuiteTest(NamedTuple):
    """What is kept of a test of a suite's version."""

    test_id: str
    fingerprint: str
    category: str | None = None
    """None, as tags and cluster, if it is not known: of a version that was pushed."""
    tags: str | None = None
    """A list, as JSON."""
    cluster: str | None = None


@dataclass(frozen=True, kw_only=True)
class Suite:
    """The active tests of a suite."""

    name: str
    label: str | None = None
    """What its author calls this version."""
    tests: Sequence[Test]
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

    @property
    def size(self) -> int:
        """How many tests it has."""
        return len(self.tests)

    def entries(self) -> Iterator[SuiteTest]:
        """Each test; rows of data are read one after the other."""
        for part in parts_of(self.tests):
            for test_id, fingerprint, category, tags, cluster in (
                (_entry(part),) if isinstance(part, Test) else part.entries()
            ):
                yield SuiteTest(test_id, fingerprint, category, json.dumps(tags), cluster)

    @cached_property
    def groups_digest(self) -> str | None:
        """A digest of category, tags and cluster of each test; None if they are not known."""
        if not self.tests:
            return None
        numbers = (
            place_number(part.id, part.category, part.tags, part.cluster)
            if isinstance(part, Test)
            else part.places_sum
            for part in parts_of(self.tests)
        )
        return f"{sum(numbers) % 2**256:064x}"

    @property
    def manifest(self) -> dict[str, str]:
        """The fingerprint of each test, by id."""
        return dict(self.in_order())

    def in_order(self) -> Iterator[tuple[str, str]]:
        """The id and fingerprint of each test, sorted by id; rows of data are not read."""
        sets = [part for part in parts_of(self.tests) if not isinstance(part, Test)]
        return heapq.merge(self._plain, *(part.fingerprints() for part in sets))

    @cached_property
    def _plain(self) -> list[tuple[str, str]]:
        tests = (part for part in parts_of(self.tests) if isinstance(part, Test))
        return sorted((test.id, test.fingerprint) for test in tests)

    @cached_property
    def version(self) -> str:
        """The digest of everything that can change a verdict."""
        return version_of(self.in_order())


@dataclass(frozen=True, kw_only=True)
class KnownVersion(Suite):
    """A version of which only the manifest is known: pushed, or of an earlier run."""

    tests: Sequence[Test] = ()
    fingerprints: Mapping[str, str]
    """Of each test, by id."""

    @property
    def size(self) -> int:
        """How many tests it has."""
        return len(self.fingerprints)

    def entries(self) -> Iterator[SuiteTest]:
        """Each test."""
        return (SuiteTest(*one) for one in self.fingerprints.items())

    def in_order(self) -> Iterator[tuple[str, str]]:
        """The id and fingerprint of each test, sorted by id."""
        return iter(sorted(self.fingerprints.items()))


def _entry(test: Test) -> tuple[str, str, str, Sequence[str], str]:
    body = test.as_json()
    return test.id, fingerprint_of(body), test.category, test.tags, cluster_of(body)


def version_of(fingerprints: Iterable[tuple[str, str]]) -> str:
    """The version of a suite with these tests: their ids and fingerprints, sorted by id."""
    digest = hashlib.sha256()
    for test_id, fingerprint in fingerprints:
        digest.update(f"{test_id} {fingerprint}\n".encode())
    return digest.hexdigest()


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
