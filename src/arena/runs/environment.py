"""What can change the results of a run besides the agent and the tests, kept with the run."""

import hashlib
import os
import platform
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from arena import __version__
from arena.agents.agent import AgentDefinition
from arena.agents.spec import CommandSpec, PythonSpec
from arena.catalog.test import Test
from arena.catalog.tests import filtered, with_different

if TYPE_CHECKING:
    from arena.settings import Settings

MAX_PROGRAM_BYTES = 16 * 1024 * 1024
"""A larger file beside an agent is not part of its digest: it is data, not a program."""
COMPOSED = frozenset({"all_of", "any_of", "not", "reply", "judge_prompt", "checklist"})
"""Validations whose standard may need a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentDifference:
    """A fact about which two runs differ."""

    name: str
    """For example `sandbox` or `machine`."""
    first: str
    second: str


def environment_of(
    settings: "Settings", agent: AgentDefinition, tests: Sequence[Test], concurrency: int | None
) -> dict[str, Any]:
    """The environment of a new run, as stored with it."""
    limits = agent.limits
    has_user = any(test.user is not None for test in with_different(tests, "user"))
    # Only where there is one, so that other runs differ in nothing from earlier ones.
    user = {"user": settings.user_model} if has_user else {}
    return user | {
        "arena": __version__,
        "agent_file": agent_digest(agent),
        "connector": agent.connector.type,
        "max_concurrency": limits.max_concurrency,
        "per_minute": limits.per_minute,
        "concurrency": concurrency or limits.max_concurrency,
        "timeouts": _timeouts(tests),
        "retries": settings.retries,
        "max_wait_seconds": settings.max_wait_seconds,
        "sandbox": settings.sandbox,
        "judge": judge_models(settings, tests),
        # Which of them executes what is known only later, and may change.
        "machine": "workers" if settings.is_queued else machine_class(),
    }


def differences(
    first: Mapping[str, Any] | None, second: Mapping[str, Any] | None
) -> list[EnvironmentDifference]:
    """The facts that differ between two environments; one that is not known differs in nothing."""
    if not first or not second:
        return []
    return [
        EnvironmentDifference(
            name=name, first=_shown(first.get(name)), second=_shown(second.get(name))
        )
        for name in sorted(first.keys() | second.keys())
        if first.get(name) != second.get(name)
    ]


def agent_digest(agent: AgentDefinition) -> str | None:
    """The digest of an agent's file and of the programs beside it that it names.

    None if it has no file, or if the file cannot be read.
    """
    if agent.source is None:
        return None
    digest = hashlib.sha256()
    try:
        for path in (agent.source, *sorted(set(_programs(agent)))):
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    except OSError:
        return None
    return digest.hexdigest()


def judge_models(settings: "Settings", tests: Sequence[Test]) -> list[str] | None:
    """The models that judge some of the tests, by name; None if no model judges."""
    composed = filtered(tests, lambda test: test.validation in COMPOSED, "validation", "turns")
    if not composed:
        return None
    # Imported here: most runs need no judge.
    from arena.evaluation.request_limits import judge_prompts

    models: set[str] = set()
    for test in composed:
        for prompt in judge_prompts(test.standard):
            models.update(prompt.judge.models if prompt.judge else settings.judge_models)
    return sorted(models) or None


def machine_class() -> str:
    """The kind of machine: not which one, but what makes one faster than another."""
    cores = len(os.sched_getaffinity(0))
    gibibytes = round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    version = ".".join(platform.python_version_tuple()[:2])
    system = f"{platform.system()} {platform.machine()}"
    return f"{system}, {cores} cores, {gibibytes} GiB, Python {version}"


def _programs(agent: AgentDefinition) -> Iterator[Path]:
    """The files beside the agent's own that its command or function is made of."""
    folder, spec = agent.directory, agent.connector
    names: list[str] = []
    if isinstance(spec, CommandSpec):
        names = shlex.split(spec.command)
    elif isinstance(spec, PythonSpec):
        names = [spec.callable.partition(":")[0].replace(".", "/") + ".py"]
    for name in names:
        path = folder / name
        is_beside = path.is_file() and path.resolve().is_relative_to(folder.resolve())
        if is_beside and path.stat().st_size <= MAX_PROGRAM_BYTES:
            yield path


def _timeouts(tests: Sequence[Test]) -> str:
    seconds = {test.timeout_seconds for test in with_different(tests, "timeout")}
    low, high = min(seconds, default=0), max(seconds, default=0)
    return f"{low} s" if low == high else f"{low} to {high} s"


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, list):
        return ", ".join(map(str, cast(list[object], value)))
    return str(value)
