"""All agents Arena knows: read from files, kept up to date, found by id and version."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.agents.agent import Agent
from arena.agents.agent_file import read_agent
from arena.agents.agent_yaml import BadFile, Place, Problem
from arena.agents.semver import Precedence, precedence
from arena.errors import Conflict, NotFound

log = logging.getLogger(__name__)

BUILTIN_DIRECTORY = Path(__file__).parent / "builtin"
MAX_TOLD = 3
"""So many problems are told with the error of an agent that is not found."""
_SUFFIXES = {".yaml", ".yml"}

_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One file as it was when it was last read."""

    stamp: _Stamp
    found: tuple[Agent, Place] | None
    problems: tuple[Problem, ...]
    bad_id: str | None = None
    """Whose file it is, where it has problems and that much can be read."""


class Registry:
    """The agents of the package and of `directories`, in that order.

    A bad file is a problem and takes no other agent down. A folder that does not exist holds no
    agents; it is read when it appears.
    """

    def __init__(
        self, directories: Iterable[Path] = (), *, builtin: Path | None = BUILTIN_DIRECTORY
    ) -> None:
        first = [builtin] if builtin else []
        self.directories: Sequence[Path] = tuple(dict.fromkeys([*first, *directories]))
        self._entries: dict[Path, _Entry] = {}
        self._agents: tuple[Agent, ...] = ()
        self._problems: tuple[Problem, ...] = ()
        self.refresh()

    @property
    def agents(self) -> tuple[Agent, ...]:
        """Every version of every agent, by id, the newest version first."""
        return self._agents

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong in the files, each as `file:line:column: what, what is allowed`."""
        return self._problems

    def refresh(self) -> bool:
        """Reads files that came, changed or went since the last time; says whether any did."""
        stamps = dict(_stamps(self.directories))
        if stamps == {path: entry.stamp for path, entry in self._entries.items()}:
            return False
        self._entries = {path: self._entry(path, stamp) for path, stamp in stamps.items()}
        known = set(self._problems)
        self._agents, self._problems = _gathered(self._entries.values())
        for problem in self._problems:
            if problem not in known:
                log.warning("%s", problem)
        return True

    def find(self, agent_id: str, version: str | None = None) -> Agent:
        """The agent `agent_id`: the newest version of it, or exactly `version`.

        Where a file of the agent has a problem, it may be the newest: then only a version will do.
        People rely on the numbers, so they are never those of an older version unasked.
        """
        versions = {agent.version: agent for agent in self._agents if agent.id == agent_id}
        bad = [p for e in self._entries.values() if e.bad_id == agent_id for p in e.problems]
        if not versions:
            raise self._not_found("agent", agent_id, {agent.id for agent in self._agents}, bad)
        if version is None:
            newest = next(iter(versions.values()))
            if bad:
                raise Conflict(
                    f"the newest version of {agent_id!r} is not known, for a file of it has a"
                    f" problem: {_told(bad)}; mend it, or name a version, as in {newest.reference}"
                )
            return newest
        if version not in versions:
            raise self._not_found(f"version of {agent_id}", version, versions, bad)
        return versions[version]

    def _not_found(
        self, what: str, name: str, known: Iterable[str], bad: Sequence[Problem]
    ) -> NotFound:
        error = NotFound.among(what, name, known)
        if not self._problems:
            return error
        # It may be in one of them: without a word of it the error would be a riddle.
        return NotFound(f"{error.message} (files with problems: {_told(bad or self._problems)})")

    def _entry(self, path: Path, stamp: _Stamp) -> _Entry:
        known = self._entries.get(path)
        if known and known.stamp == stamp:
            return known
        try:
            return _Entry(stamp=stamp, found=read_agent(path), problems=())
        except BadFile as error:
            problems = tuple(error.problems)
            return _Entry(stamp=stamp, found=None, problems=problems, bad_id=error.agent_id)


def _stamps(directories: Iterable[Path]) -> Iterable[tuple[Path, _Stamp]]:
    """Every agent's file with what changes when it is written: time, size and inode."""
    for directory in directories:
        try:
            paths = sorted(path for path in directory.iterdir() if path.suffix in _SUFFIXES)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
        for path in paths:
            try:
                stat = path.stat()
            except OSError:
                continue  # it went away in between, or points nowhere
            yield path, (stat.st_mtime_ns, stat.st_size, stat.st_ino)


def _gathered(entries: Iterable[_Entry]) -> tuple[tuple[Agent, ...], tuple[Problem, ...]]:
    agents: dict[str, tuple[Agent, Place]] = {}
    problems: list[Problem] = []
    for entry in entries:
        problems += entry.problems
        if entry.found is None:
            continue
        agent, place = entry.found
        first_place = agents.setdefault(agent.reference, entry.found)[1]
        if first_place is not place:
            message = (
                f"{agent.reference} is already defined in {first_place},"
                " must have another id or version"
            )
            problems.append(Problem(place, message))
    found = sorted((agent for agent, _ in agents.values()), key=_newest_last, reverse=True)
    return tuple(sorted(found, key=lambda agent: agent.id)), tuple(problems)


def _told(problems: Sequence[Problem]) -> str:
    more = len(problems) - MAX_TOLD
    told = "; ".join(map(str, problems[:MAX_TOLD]))
    return f"{told}; and {more} more" if more > 0 else told


def _newest_last(agent: Agent) -> Precedence:
    return precedence(agent.version)
