"""The registry of agents: read from files, kept up to date, found by id and version."""

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.agents.agent import AgentDefinition, precedence
from arena.agents.agent_file import BadFile, read_agent
from arena.documents.problem import YAML_SUFFIXES, FileProblem, Place
from arena.errors import Conflict, NotFound

log = logging.getLogger(__name__)

BUILTIN_DIRECTORY = Path(__file__).parent / "builtin"
MAX_SHOWN = 3
"""Problems shown in the error for an agent that is not found."""

_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One file as it was when it was last read."""

    stamp: _Stamp | None
    """None if the file could not be read: it is tried again."""
    found: tuple[AgentDefinition, Place] | None
    problems: tuple[FileProblem, ...]
    bad_id: str | None = None
    """The agent's id in a file with problems, if it can be read."""


class Registry:
    """The agents of the package and of `directories` (folders or single files), in that order.

    A bad file is reported as a problem and does not affect other agents. A missing folder has no
    agents; it is read when it appears. A folder that cannot be read keeps its agents: without a
    descriptor or a permission nobody can say that they are gone.
    """

    def __init__(
        self, directories: Iterable[Path] = (), *, builtin: Path | None = BUILTIN_DIRECTORY
    ) -> None:
        first = [builtin] if builtin else []
        self.directories: Sequence[Path] = tuple(dict.fromkeys([*first, *directories]))
        self._entries: dict[Path, _Entry] = {}
        self._agents: tuple[AgentDefinition, ...] = ()
        self._problems: tuple[FileProblem, ...] = ()
        self._unreadable: tuple[FileProblem, ...] = ()
        """Folders that could not be read."""
        self.refresh()

    @property
    def agents(self) -> tuple[AgentDefinition, ...]:
        """Every version of every agent, by id, the newest version first."""
        return self._agents

    @property
    def newest(self) -> list[AgentDefinition]:
        """Every agent in its newest version, by id."""
        # The newest version comes first, so in reverse it overwrites the older ones.
        return list({agent.id: agent for agent in reversed(self._agents)}.values())[::-1]

    @property
    def problems(self) -> tuple[FileProblem, ...]:
        """The problems in the files."""
        return self._problems

    def refresh(self) -> bool:
        """Read files that were added, changed or removed; returns whether there were any."""
        known_stamps = {path: entry.stamp for path, entry in self._entries.items()}
        stamps, unreadable = _stamps(self.directories, known_stamps)
        if stamps == known_stamps and unreadable == self._unreadable:
            return False
        self._unreadable = unreadable
        self._entries = {path: self._entry(path, stamp) for path, stamp in stamps.items()}
        known = set(self._problems)
        self._agents, problems = _collect(self._entries.values())
        self._problems = (*unreadable, *problems)
        for problem in self._problems:
            if problem not in known:
                log.warning("%s", problem)
        return True

    def find(self, agent_id: str, version: str | None = None) -> AgentDefinition:
        """The agent `agent_id`: its newest version, or exactly `version`.

        If a file of the agent has a problem, it may be the newest version: then a version must be
        given, because figures of an older version must never be taken for the newest's.
        """
        versions = {agent.version: agent for agent in self._agents if agent.id == agent_id}
        bad = [p for e in self._entries.values() if e.bad_id == agent_id for p in e.problems]
        if not versions:
            raise self._not_found("agent", agent_id, {agent.id for agent in self._agents}, bad)
        if version is None:
            newest = next(iter(versions.values()))
            if bad:
                raise Conflict(
                    f"the newest version of {agent_id!r} is unknown: one of its files has a"
                    f" problem: {_list_problems(bad)}; fix it, or name a version, as in"
                    f" {newest.reference}"
                )
            return newest
        if version not in versions:
            raise self._not_found(f"version of {agent_id}", version, versions, bad)
        return versions[version]

    def versions(self, agent_id: str) -> list[str]:
        """Every known version of an agent, newest first."""
        return [agent.version for agent in self._agents if agent.id == agent_id]

    def _not_found(
        self, what: str, name: str, known: Iterable[str], bad: Sequence[FileProblem]
    ) -> NotFound:
        error = NotFound.among(what, name, known)
        if not self._problems:
            return error
        # The agent may be defined in one of these files.
        return NotFound(
            f"{error.message} (files with problems: {_list_problems(bad or self._problems)})"
        )

    def _entry(self, path: Path, stamp: _Stamp | None) -> _Entry:
        known = self._entries.get(path)
        if known and known.stamp == stamp and stamp is not None:
            return known
        try:
            return _Entry(stamp=stamp, found=read_agent(path), problems=())
        except BadFile as error:
            if error.is_unread:
                stamp = None
            return _Entry(stamp=stamp, found=None, problems=error.problems, bad_id=error.agent_id)


def _stamps(
    directories: Iterable[Path], known: Mapping[Path, _Stamp | None]
) -> tuple[dict[Path, _Stamp | None], tuple[FileProblem, ...]]:
    """Every agent file with a stamp that changes when it is written: time, size and inode.

    A folder that cannot be read has the files that are `known`, and a problem.
    """
    stamps: dict[Path, _Stamp | None] = {}
    problems: list[FileProblem] = []
    seen: set[str] = set()
    for directory in directories:
        try:
            paths = _files_in(directory)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            stamps |= {path: stamp for path, stamp in known.items() if path.parent == directory}
            message = f"the folder cannot be read: {error.strerror}"
            problems.append(FileProblem(file=str(directory), message=message))
            continue
        for path in paths:
            # A file with two names (a folder given twice, a link) counts once.
            real = os.path.realpath(path)
            if real in seen:
                continue
            seen.add(real)
            try:
                stat = path.stat()
            except FileNotFoundError:
                continue  # deleted in between, or a broken link
            except OSError:
                stamps[path] = known.get(path)
                continue
            stamps[path] = stat.st_mtime_ns, stat.st_size, stat.st_ino
    return stamps, tuple(problems)


def _files_in(directory: Path) -> Sequence[Path]:
    if directory.is_file():
        return [directory]
    return sorted(path for path in directory.iterdir() if path.suffix in YAML_SUFFIXES)


def _collect(
    entries: Iterable[_Entry],
) -> tuple[tuple[AgentDefinition, ...], tuple[FileProblem, ...]]:
    agents: dict[str, tuple[AgentDefinition, Place]] = {}
    problems: list[FileProblem] = []
    for entry in entries:
        problems += entry.problems
        if entry.found is None:
            continue
        agent, place = entry.found
        first, first_place = agents.setdefault(agent.reference, entry.found)
        if first is not agent:
            at = f"{first.source}:{first_place.line}:{first_place.column}"
            message = f"{agent.reference} is already defined in {at}; change its id or version"
            line, column = place
            file = str(agent.source)
            problems.append(FileProblem(file=file, line=line, column=column, message=message))
    found = [agent for agent, _ in agents.values()]
    found.sort(key=lambda agent: precedence(agent.version), reverse=True)
    return tuple(sorted(found, key=lambda agent: agent.id)), tuple(problems)


def _list_problems(problems: Sequence[FileProblem]) -> str:
    more = len(problems) - MAX_SHOWN
    shown = "; ".join(map(str, problems[:MAX_SHOWN]))
    return f"{shown}; and {more} more" if more > 0 else shown
