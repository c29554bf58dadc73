"""Agents on the wire."""

from pydantic import Field

from arena.schemas.wire import Asked, Wire


class AgentLimits(Wire):
    """How much an agent may be asked."""

    max_concurrency: int
    per_minute: int | None


class Agent(Wire):
    """An agent that can be measured."""

    id: str = Field(examples=["qa-web-manager"])
    version: str = Field(examples=["1.0.0"])
    versions: list[str] = Field(description="Every version that is known, newest first.")
    name: str
    nickname: str | None
    description: str
    tags: list[str]
    connector: str = Field(description="How it is reached.", examples=["command"])
    limits: AgentLimits
    applicable_tests: int = Field(description="Active tests that are meant for it.")


class AgentList(Wire):
    """Every agent in its newest version, and what is wrong with agent files."""

    agents: list[Agent]
    count: int
    problems: list[str]


class AgentCheck(Asked):
    """A question to see whether an agent answers at all."""

    prompt: str = Field(default="Hello! What can you do?", min_length=1, max_length=100_000)
    version: str | None = Field(default=None, max_length=20, description="Default: the newest.")
    timeout_seconds: int = Field(default=30, ge=1, le=600)


class AgentChecked(Wire):
    """What came back."""

    agent_id: str
    version: str
    answered: bool
    output: str | None
    reason: str | None = Field(description="Why there was no answer.")
    duration_seconds: float
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None
    cost_usd: float | None = None
