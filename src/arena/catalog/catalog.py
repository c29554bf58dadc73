"""An immutable snapshot of all tests."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from arena import clock
from arena.catalog.folders import BUILTIN_FOLDER, Folders, FoundFile, Origin
from arena.catalog.loader import read_source
from arena.catalog.source import Source
from arena.catalog.suite import Suite
from arena.catalog.test import CatalogSource, CatalogState, Test
from arena.catalog.tests import TestsById, joined, parts_of, with_ids
from arena.documents.problem import MAX_PROBLEMS, FileProblem, Place
from arena.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from arena.catalog.tests import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState(CatalogSource):
    """A file of the catalog, with its internal fields."""

    origin: Origin
    problems: tuple[FileProblem, ...]
    suite: str | None = ""
    """None if it cannot be read far enough to tell."""
    label: str | None = None
    """Of the suite's version, if the file gives one."""
    folder: str | None = None
    """The digest of the path that gave the suite its name; None if the file or a project does."""
    is_unread: bool = False
    """Whether it has tests that are not served, because of a problem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """All tests at one time. A changed file makes a new catalog; this one never changes."""

    tests: Sequence[Test]
    """In the order of the files, and of the tests within each; rows of data are read on demand."""
    by_id: Mapping[str, Test]
    problems: tuple[FileProblem, ...]
    sources: tuple[SourceState, ...]
    digest: str
    """Changes only with the served content."""
    loaded_at: datetime
    _suites: dict[str, Suite] = field(default_factory=dict[str, Suite], compare=False)
    """The suites that were asked for: hashing thousands of tests takes a moment."""

    @property
    def suite_names(self) -> tuple[str, ...]:
        """Every suite with an active test, in the order of the tests."""
        return tuple(dict.fromkeys(part.suite for part in parts_of(self.tests) if part.active))

    def suite(self, name: str) -> Suite:
        """The active tests of a suite, and the version that they are."""
        if name not in self._suites:
            every = parts_of(self.tests)
            tests = joined(part for part in every if part.active and part.suite == name)
            if not tests:
                raise NotFound.among("suite", name, self.suite_names)
            sources = [one for one in self.sources if one.suite == name and one.tests]
            self._suites[name] = Suite(
                name=name,
                label=next((one.label for one in sources if one.label), None),
                tests=tests,
                folder=_common_folder(sources),
                is_mixed=len({one.origin == "named" for one in sources}) > 1,
                files=tuple(one.file for one in sources),
                unread=tuple(self._unread(name, sources)),
            )
        return self._suites[name]

    def _unread(self, suite: str, sources: Sequence[SourceState]) -> Iterator[str]:
        """The files with tests of a suite that are not served.

        A file that does not tell its suite may be of every suite with files beside it.
        """
        beside = {Path(one.file).parent for one in sources}
        for one in self.sources:
            is_of_it = one.suite == suite or (one.suite is None and Path(one.file).parent in beside)
            if one.is_unread and is_of_it:
                yield one.file

    def is_named(self, suite: str) -> bool:
        """Whether the suite has tests from folders named on the command line or in settings."""
        return any(one.suite == suite and one.origin == "named" for one in self.sources)

    @property
    def state(self) -> CatalogState:
        """The catalog as the API returns it."""
        return CatalogState(
            digest=self.digest,
            loaded_at=self.loaded_at,
            tests=len(self.tests),
            sources=[
                CatalogSource(file=one.file, tests=one.tests, state=one.state)
                for one in self.sources
            ],
            problems=list(self.problems),
            categories=sorted(self.categories),
            tags=sorted({tag for part in parts_of(self.tests) for tag in part.tags}),
        )

    @property
    def folder_problems(self) -> list[FileProblem]:
        """The problems of whole folders; they come before those of the files."""
        of_files = sum(len(source.problems) for source in self.sources)
        return list(self.problems[: len(self.problems) - of_files])

    @property
    def categories(self) -> tuple[str, ...]:
        """Every category, in the order of the tests."""
        return tuple(dict.fromkeys(part.category for part in parts_of(self.tests)))

    def test(self, test_id: str) -> Test:
        """The test with this id."""
        found = self.by_id.get(test_id)
        if found is None:
            raise self.unknown(test_id)
        return found

    def unknown(self, test_id: str) -> NotFound:
        """The error for an id that no test has."""
        if isinstance(self.by_id, TestsById):
            return self.by_id.unknown(test_id)
        return NotFound.among("test", test_id, self.by_id)

    def named(self, test_id: str) -> "Part":
        """The test with this id, or the data set whose tests have ids that begin with it."""
        if isinstance(self.by_id, TestsById) and test_id in self.by_id.parts:
            return self.by_id.parts[test_id]
        return self.test(test_id)

    def for_agent(
        self,
        agent_id: str,
        category: str | None = None,
        test_ids: Collection[str] | None = None,
        suite: str | None = None,
    ) -> Sequence[Test]:
        """The active tests for the agent, with these ids and this category, of this suite.

        An unknown id or category is an error, and so is the id of a test that is not for the agent:
        a test requested by name must not be skipped silently.
        """
        if category is not None and category not in self.categories:
            raise NotFound.among("category", category, self.categories)
        for test_id in test_ids or ():
            part = self.named(test_id)
            if not part.is_for(agent_id):
                raise InvalidInput(
                    _why_not(part if isinstance(part, Test) else part.first, agent_id)
                )
        return joined(
            chosen
            for part in parts_of(self.tests)
            if part.is_for(agent_id)
            and (category is None or part.category == category)
            and (suite is None or part.suite == suite)
            and (chosen := part if test_ids is None else with_ids(part, test_ids)) is not None
        )


def _why_not(test: Test, agent_id: str) -> str:
    if not test.active:
        return f"the test {test.id!r} is not active"
    agents = ", ".join(test.agents or ()) or "nobody"
    return f"the test {test.id!r} is not for {agent_id!r}; it is for: {agents}"


def load_catalog(
    directories: Iterable[Path] = (),
    *,
    project: Sequence[Path] = (),
    home: Path | None = None,
    builtin: bool = True,
) -> Catalog:
    """Read the bundled tests, then those of `project`, of `directories` and of `home`."""
    named = tuple(directories)
    folders = Folders(builtin=builtin, project=tuple(project), named=named, home=home)
    files, problems, _ = folders.look()
    readings = [(file, read_source(file.path, file.suite)) for file in files]
    return compose(readings, folder_problems=problems)


def lint(paths: Iterable[Path], *, builtin: bool = True) -> Catalog:
    """The tests in these files and folders, with all their problems.

    The ids of the tests that ship with Arena count as taken, as they will when the files are used;
    not in a project without them (`builtin`).
    """
    named = tuple(paths)
    is_builtin = any(path.resolve().is_relative_to(BUILTIN_FOLDER.resolve()) for path in named)
    whole = load_catalog(named, builtin=builtin and not is_builtin)
    sources = tuple(source for source in whole.sources if source.origin == "named")
    count = sum(source.tests for source in sources)
    # Named folders are read last, so their tests are at the end.
    tests = whole.tests[len(whole.tests) - count :]
    by_id = _by_id({part.id: part for part in parts_of(tests)})
    return replace(whole, tests=tests, by_id=by_id, sources=sources)


def compose(
    readings: Sequence[tuple[FoundFile, Source]],
    *,
    last_good: Mapping[Path, Source] = MappingProxyType({}),
    folder_problems: Sequence[FileProblem] = (),
) -> Catalog:
    """The catalog of these files.

    A file with a problem keeps its last good tests, or has none; other files are not affected. An
    id belongs to the first file that has it: the later file has the problem.
    """
    by_id: dict[str, Part] = {}
    chosen: list[Source] = []
    read: list[tuple[FoundFile, Source, Source | None, tuple[FileProblem, ...]]] = []
    for file, source in readings:
        problems = source.problems or _clashes(source, by_id, chosen)
        served: Source | None = source
        if problems:
            served = last_good.get(file.path)
            if served is not None and (not served.is_readable or _clashes(served, by_id, chosen)):
                served = None
        if served is not None:
            chosen.append(served)
            by_id.update((part.id, part) for part in served.parts)
        read.append((file, source, served, problems))
    states: list[SourceState] = []
    claimed: dict[str, str] = {}
    # A second pass, with all ids known: a bad file may also clash with a later one.
    for file, source, served, problems in read:
        if problems:  # then all of them are reported at once
            more = _bad_clashes(source, served, by_id, chosen, claimed)
            every = dict.fromkeys((*problems, *more))
            own = str(file.path)  # before those of its data files
            problems = sorted(every, key=lambda one: (one.file != own, one.line, one.column))
        states.append(_state(file, source, served, problems, by_id))
    return Catalog(
        tests=joined(part for source in chosen for part in source.parts),
        by_id=_by_id(by_id),
        problems=(*folder_problems, *(p for state in states for p in state.problems)),
        sources=tuple(states),
        digest=_digest(chosen),
        loaded_at=clock.now(),
    )


def _by_id(parts: "dict[str, Part]") -> Mapping[str, Test]:
    plain = {test_id: part for test_id, part in parts.items() if isinstance(part, Test)}
    return MappingProxyType(plain) if len(plain) == len(parts) else TestsById(parts)


def _state(
    file: FoundFile,
    source: Source,
    served: Source | None,
    problems: Sequence[FileProblem],
    by_id: "Mapping[str, Part]",
) -> SourceState:
    known = served or source
    return SourceState(
        file=str(file.path),
        origin=file.origin,
        state="bad" if served is None else "last_good" if problems else "good",
        tests=0 if served is None else len(served.tests),
        problems=tuple(problems),
        suite=known.suite,
        label=None if served is None else served.suite_label,
        folder=None if known.names_suite else file.folder,
        is_unread=served is None and (bool(source.problems) or _has_unserved(source, by_id)),
    )


def _has_unserved(source: Source, by_id: "Mapping[str, Part]") -> bool:
    """Whether a test of the file is not served; not if another file has the very same test."""
    return any(
        part.id not in by_id or by_id[part.id].fingerprint != part.fingerprint
        for part in source.parts
    )


def _common_folder(sources: Sequence[SourceState]) -> str | None:
    """The folder that gave a suite its name; None if a file or a project names it."""
    folders = {one.folder for one in sources}
    if None in folders or not folders:
        return None
    # Of several, they are named together: another combination is another suite.
    return hashlib.sha256("".join(sorted(filter(None, folders))).encode()).hexdigest()


def _clashes(
    source: Source, taken: "Mapping[str, Part]", chosen: Sequence[Source]
) -> tuple[FileProblem, ...]:
    """A problem for each test whose id an earlier file already has, and for another label."""
    found = list(_label_clash(source, chosen))
    for index, part in enumerate(source.parts):
        if part.id in taken:
            first = _where(taken[part.id], chosen)
            found.append(_taken(source, part.id, source.places[index], first))
        if len(found) == MAX_PROBLEMS:  # a copy of a large file has thousands
            break
    return tuple(found)


def _label_clash(source: Source, chosen: Sequence[Source]) -> Iterator[FileProblem]:
    """The problem of a file that labels its suite's version otherwise than an earlier file."""
    for other in chosen if source.suite_label else ():
        if other.suite == source.suite and other.suite_label not in (None, source.suite_label):
            line, column = source.suite_place
            message = (
                f"suite_version: is {source.suite_label!r}, but {other.path} says "
                f"{other.suite_label!r}; the files of the suite {source.suite!r} need one label"
            )
            yield FileProblem(file=str(source.path), line=line, column=column, message=message)
            return


def _bad_clashes(
    source: Source,
    served: Source | None,
    by_id: "Mapping[str, Part]",
    chosen: Sequence[Source],
    claimed: dict[str, str],
) -> tuple[FileProblem, ...]:
    """The same for a file with problems, whose ids are not served: compared with all others.

    `claimed` collects the positions of ids that are only in such files. The other file stays good:
    a file that is not served cannot own an id.
    """
    own = {part.id for part in served.parts} if served else set[str]()
    ids = source.bad_ids or {part.id: source.places[i] for i, part in enumerate(source.parts)}
    found: list[FileProblem] = []
    for test_id, place in ids.items():
        here = f"{source.path}:{place.line}:{place.column}"
        if test_id in by_id and test_id not in own:
            first = _where(by_id[test_id], chosen)
        else:
            first = claimed.setdefault(test_id, here)
        if first != here:
            found.append(_taken(source, test_id, place, first))
        if len(found) == MAX_PROBLEMS:
            break
    return tuple(found)


def _taken(source: Source, test_id: str, place: Place, first: str) -> FileProblem:
    message = f"the id {test_id!r} is taken: {first} has it; choose another id"
    return FileProblem(file=str(source.path), line=place.line, column=place.column, message=message)


def _where(part: "Part", chosen: Sequence[Source]) -> str:
    for source in chosen:
        for index, candidate in enumerate(source.parts):
            if candidate is part:
                line, column = source.places[index]
                return f"{source.path}:{line}:{column}"
    return "another file"


def _digest(sources: Sequence[Source]) -> str:
    """A hash of the served content: the names and bytes of the files, not their folders."""
    lines = (f"{source.path.name} {source.content_digest}\n" for source in sources)
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()
