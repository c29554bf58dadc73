"""An agent: who answers, how it is reached and how much it may be asked at once."""

from dataclasses import dataclass, field
from pathlib import Path

from arena.agents.spec import ConnectorSpec

ID_PATTERN = r"^[a-z0-9][a-z0-9-]*$"
MAX_ID_LENGTH = 100
DEFAULT_VERSION = "1.0.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much an agent may be asked."""

    max_concurrency: int = 4
    """Questions at the same time."""
    per_minute: int | None = None
    """Questions begun in any 60 seconds; None means as many as it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One version of one agent."""

    id: str
    version: str = DEFAULT_VERSION
    name: str
    nickname: str | None = None
    description: str = ""
    tags: tuple[str, ...] = ()
    connector: ConnectorSpec
    limits: Limits = field(default_factory=Limits)
    source: Path | None = None
    """The file it was read from."""

    @property
    def directory(self) -> Path:
        """Where its program runs and its module is looked for: the folder of its file."""
        return self.source.absolute().parent if self.source else Path.cwd()

    @property
    def reference(self) -> str:
        """How a person names exactly this one: `my-agent@1.0.0`."""
        return f"{self.id}@{self.version}"
