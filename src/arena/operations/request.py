"""Request bodies: their rules, and the messages for invalid ones."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator

from arena.text import text_problem

MAX_FAULTS = 50
MAX_PLACE = 200
"""An unknown key is quoted up to this length."""

MESSAGES = {
    "extra_forbidden": "unknown field",
    "json_invalid": "not JSON",
    "missing": "is missing",
    "model_attributes_type": "must be a JSON object, sent as application/json",
}
"""Our messages for some of pydantic's."""


class Request(BaseModel):
    """A JSON body: an unknown key is an error."""

    # NaN and the infinities must not become null in transit: it would be another standard.
    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_inf_nan="constants", validate_by_name=True
    )

    @field_validator("*")
    @classmethod
    def _refuse_unstorable(cls, value: object) -> object:
        if problem := _unstorable(value):
            raise ValueError(problem)
        return value


def _unstorable(value: object) -> str | None:
    """Why a value (also inside lists and dataclasses) cannot be stored or sent; None if it can."""
    if isinstance(value, list):
        return next(filter(None, map(_unstorable, cast(list[object], value))), None)
    if is_dataclass(value):
        return _unstorable([getattr(value, field.name) for field in fields(value)])
    return text_problem(value) if isinstance(value, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """An invalid part of a request."""

    at: Annotated[str, Field(examples=["body.trials"])]
    message: Annotated[str, Field(examples=["Input should be greater than or equal to 1"])]


def misfits(errors: Sequence[Any]) -> list[Misfit]:
    """The invalid parts of a request, from pydantic's errors.

    The value itself is left out: it may be long, or a secret.
    """
    return [_misfit(fault) for fault in errors[:MAX_FAULTS]]


def _misfit(fault: Any) -> Misfit:
    at = ".".join(str(step) for step in fault["loc"])[:MAX_PLACE]
    message = MESSAGES.get(fault["type"]) or str(fault["msg"]).removeprefix("Value error, ")
    if fault["type"] == "json_invalid":
        message += f": {fault['ctx']['error']}"
    return Misfit(at=at, message=message)
