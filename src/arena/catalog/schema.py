"""The keys a test file may have, and what each may hold."""

import difflib
import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from arena.catalog.yaml_scalars import plain_value
from arena.evaluation.fields import dotted
from arena.evaluation.standard import VALIDATIONS

Text = Annotated[str, StringConstraints(pattern=r"\S")]
Name = Annotated[str, StringConstraints(pattern=r"^[^\r\n]*\S[^\r\n]*$", max_length=200)]
Identifier = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=50)
]
AgentId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=100)]
Word = Annotated[str, StringConstraints(pattern=r"^[^\r\n]*\S[^\r\n]*$", max_length=100)]


class TestKeys(BaseModel):
    """The keys of one test. Used to check them; the catalog keeps a `Test`, which is smaller."""

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class
    model_config = ConfigDict(strict=True, extra="forbid")

    id: Identifier
    name: Name
    description: Text | None = None
    prompt: Text
    expected: dict[str, Any]
    validation: str = "contains"
    timeout: int = Field(default=30, ge=1, le=86_400)
    points: float = Field(default=1.0, gt=0, le=1_000_000, allow_inf_nan=False)
    agents: list[AgentId] | None = None
    active: bool = True
    tags: list[Word] = Field(default_factory=list[str])
    trials: int = Field(default=1, ge=1, le=1000)
    budget_tokens: int | None = Field(default=None, ge=1, le=1_000_000_000)
    case_sensitive: bool | None = None
    whole_word: bool = False
    pass_score: float | None = Field(default=None, gt=0, le=100, allow_inf_nan=False)


class FileKeys(BaseModel):
    """The keys of a file, apart from the tests themselves."""

    model_config = ConfigDict(strict=True, extra="forbid")

    category: Word | None = None
    description: Text | None = None


FILE_KEYS = (*FileKeys.model_fields, "tests")

_ID = "letters, digits, '_', '.' or '-', the first a letter or digit"
ALLOWED = {
    "id": f"1 to 50 {_ID}",
    "name": "one line of text of at most 200 characters",
    "description": "text",
    "prompt": "text that is not empty",
    "expected": "a mapping that fits the validation",
    "validation": f"one of {', '.join(VALIDATIONS)}",
    "timeout": "a whole number of seconds from 1 to 86400",
    "points": "a number above 0, at most 1000000",
    "agents": "a list of agent ids (leave it out for every agent)",
    "active": "true or false",
    "tags": "a list of words",
    "trials": "a whole number from 1 to 1000",
    "budget_tokens": "a whole number from 1 to 1000000000",
    "case_sensitive": "true or false",
    "whole_word": "true or false",
    "pass_score": "a number above 0, at most 100",
    "category": "one line of text of at most 100 characters",
    "tests": "a list of at least one test",
}
"""What each key must be, as an error message says it."""
ALLOWED_ITEM = {"agents": f"an agent id: 1 to 100 {_ID}", "tags": "one line of text"}
_TEXT_KEYS = {"id", "name", "description", "prompt", "validation", "category", "agents", "tags"}

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """A key or value that does not fit, and what to write instead."""

    path: Path
    of_key: bool
    """Whether the key itself is wrong, not its value."""
    message: str


def misfits(wrong: ValidationError, known: tuple[str, ...]) -> list[Misfit]:
    """Each thing that pydantic did not like, in our own words."""
    found: list[Misfit] = []
    for error in wrong.errors(include_url=False, include_context=False):
        path = error["loc"]
        key = str(path[0])
        of_key = error["type"] == "extra_forbidden"
        if of_key:
            message = unknown_key(key, known)
        elif error["type"] == "missing":
            message = f"needs the key {key!r}: {ALLOWED[key]}"
            path = ()
        else:
            allowed = ALLOWED[key] if len(path) == 1 else ALLOWED_ITEM[key]
            message = f"{dotted(path)} must be {allowed}; it is {shown(error['input'], key)}"
        found.append(Misfit(path=path, of_key=of_key, message=message))
    return found


def unknown_key(key: str, known: tuple[str, ...]) -> str:
    """What to say of a key that no one knows."""
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
    hint = f"did you mean {close[0]!r}?" if close else f"allowed: {', '.join(known)}"
    return f"unknown key {key!r}; {hint}"


def shown(value: object, key: str) -> str:
    """A wrong value as a message names it, with a hint where quotes were missing or too many."""
    wants_text = key in _TEXT_KEYS
    if value is None:
        return "empty"
    if isinstance(value, bool):
        said = str(value).lower()
        return f"{said} (a boolean): quote it" if wants_text else said
    if isinstance(value, int | float):
        said = "infinite" if isinstance(value, float) and math.isinf(value) else _short(str(value))
        return f"the number {said}: quote it" if wants_text else said
    if isinstance(value, str):
        if not value.strip():
            return "empty"
        is_quoted = not wants_text and len(value) < 20 and not isinstance(plain_value(value), str)
        return f"the text {_short(value)!r}" + (": remove the quotes" if is_quoted else "")
    return "a list" if isinstance(value, list) else "a mapping"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"
