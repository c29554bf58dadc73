"""What callers send: its rules, and what is said where it does not fit."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, cast

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, field_validator

from arena.text import text_problem

MAX_FAULTS = 50
MAX_PLACE = 200
"""A key that does not belong is quoted no longer than this."""

MESSAGES = {
    "extra_forbidden": "unknown field",
    "json_invalid": "not JSON",
    "missing": "is missing",
    "model_attributes_type": "must be a JSON object, sent as application/json",
}
"""Plain words for what the validator says in its own."""


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is outside the years 1 to 9999") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A time with a zone, in UTC."""


class Request(BaseModel):
    """A JSON body: an unknown key is an error."""

    # NaN and the infinities must not become null on the way: another standard would be judged.
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
    """What in a text, in a list or in a value PostgreSQL cannot store or JSON cannot carry."""
    if isinstance(value, list):
        return next(filter(None, map(_unstorable, cast(list[object], value))), None)
    if is_dataclass(value):
        return _unstorable([getattr(value, field.name) for field in fields(value)])
    return text_problem(value) if isinstance(value, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """A place where a request did not fit."""

    at: Annotated[str, Field(examples=["body.trials"])]
    message: Annotated[str, Field(examples=["Input should be greater than or equal to 1"])]


def misfits(errors: Sequence[Any]) -> list[Misfit]:
    """Each place where a request did not fit, by what pydantic says of it.

    The value itself is left out: it may be long, or a secret.
    """
    return [_misfit(fault) for fault in errors[:MAX_FAULTS]]


def _misfit(fault: Any) -> Misfit:
    at = ".".join(str(step) for step in fault["loc"])[:MAX_PLACE]
    message = MESSAGES.get(fault["type"]) or str(fault["msg"]).removeprefix("Value error, ")
    if fault["type"] == "json_invalid":
        message += f": {fault['ctx']['error']}"
    return Misfit(at=at, message=message)
