"""What an agent left in its workspace."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A regular file."""

    content: bytes
    is_executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A file that differs from the one that the agent was given."""

    path: str
    kind: Literal["added", "changed", "deleted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """The files of a workspace after the agent's work."""

    files: Mapping[str, File]
    """The declared ones (`collect`), by path."""
    before: Mapping[str, File] = field(default_factory=dict[str, File])
    """What the agent was given. Not in a record: the test has it."""
    changes: tuple[Change, ...] = ()
    """Of everything in the folder, declared or not."""
    problems: tuple[str, ...] = ()
    """What was left out, and why: links, special files, planted hooks."""
    is_protected: bool = False
    """Whether the agent could not have read the hidden files."""
