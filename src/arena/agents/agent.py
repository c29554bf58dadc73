"""An agent: its id, version and limits, and what the API returns about it."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from arena.agents.spec import ConnectorSpec, Traces
from arena.fields import (
    LABEL_PATTERN,
    MAX_LABEL_LENGTH,
    MAX_NAME_LENGTH,
    MAX_VERSION_LENGTH,
    STRICT,
)
from arena.models.step import Step

ID_PATTERN = r"^[a-z0-9][a-z0-9-]*$"
DEFAULT_VERSION = "1.0.0"
_NUMBER = r"(?:0|[1-9]\d*)"
_LABEL = rf"(?:{_NUMBER}|\d*[A-Za-z-][0-9A-Za-z-]*)"
VERSION_PATTERN = (
    rf"^(?P<numbers>{_NUMBER}\.{_NUMBER}\.{_NUMBER})"
    rf"(?:-(?P<pre_release>{_LABEL}(?:\.{_LABEL})*))?"
    r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$"
)
LINE_PATTERN = r"^[^\r\n\x00]*$"

_VERSION = re.compile(VERSION_PATTERN, re.ASCII)
_Line = Annotated[str, Field(min_length=1, max_length=200, pattern=LINE_PATTERN)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLimits:
    """How many questions an agent may get."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    max_concurrency: Annotated[int, Field(ge=1, le=1000)] = 4
    """Questions at the same time."""
    per_minute: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Questions started in any 60 seconds; null means no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentKeys:
    """The keys of an agent's file."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    id: Annotated[str, Field(max_length=MAX_NAME_LENGTH, pattern=ID_PATTERN)]
    version: Annotated[str, Field(max_length=MAX_VERSION_LENGTH, pattern=VERSION_PATTERN)] = (
        DEFAULT_VERSION
    )
    name: _Line | None = None
    nickname: _Line | None = None
    description: Annotated[str, Field(max_length=10_000)] = ""
    tags: tuple[Annotated[str, Field(min_length=1, max_length=50)], ...] = ()
    connector: ConnectorSpec
    limits: AgentLimits = field(default_factory=AgentLimits)
    traces: Traces = None
    """How its OpenTelemetry spans are received; null if they are not."""
    placement: Annotated[str, Field(max_length=MAX_LABEL_LENGTH, pattern=LABEL_PATTERN)] | None = (
        None
    )
    """The label of the workers that can ask it; null: decided by its connector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefinition(AgentKeys):
    """One version of an agent, as defined by its file. Never sent: it says what to start."""

    name: str = ""
    source: Path | None = None
    """The file it was read from."""

    @property
    def directory(self) -> Path:
        """The folder of its file: the working directory, and where its module is searched."""
        return self.source.absolute().parent if self.source else Path.cwd()

    @property
    def reference(self) -> str:
        """The name of exactly this version: `my-agent@1.0.0`."""
        return f"{self.id}@{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent that can be measured."""

    id: Annotated[str, Field(examples=["qa-web-manager"])]
    version: Annotated[str, Field(examples=["1.0.0"])]
    versions: list[str]
    """Every known version, newest first."""
    name: str
    nickname: str | None
    description: str
    tags: list[str]
    connector: Annotated[str, Field(examples=["command"])]
    """How it is reached."""
    limits: AgentLimits
    applicable_tests: int
    """Active tests that are meant for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentList:
    """Every agent in its newest version, and the problems in agent files."""

    agents: list[Agent]
    count: int
    problems: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentChecked:
    """How an agent answered a single question."""

    agent_id: str
    version: str
    prompt: str = ""
    """What was asked; empty from a server of 0.1."""
    answered: bool
    output: str | None
    reason: str | None
    """Why there was no answer."""
    duration_seconds: float
    truncated: bool = False
    """Whether the output is not all that the agent wrote."""
    steps: list[Step] | None = None
    """The tools that the agent called; null if it reported none."""
    steps_problem: str | None = None
    """Why the steps are not all that the agent reported."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None
    cost_usd: float | None = None


Precedence = tuple[tuple[int, ...], bool, tuple[tuple[int, int, str], ...]]


def precedence(version: str) -> Precedence:
    """A key that sorts versions from old to new; build metadata does not count."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"{version!r} is not a semantic version such as 1.0.0")
    numbers = tuple(int(part) for part in match["numbers"].split("."))
    labels = match["pre_release"].split(".") if match["pre_release"] else []
    # 1.0.0-rc.1 comes before 1.0.0; in a pre-release, numbers come before words.
    ranks = tuple((0, int(label), "") if label.isdigit() else (1, 0, label) for label in labels)
    return numbers, not labels, ranks
