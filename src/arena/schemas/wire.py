"""What every shape on the wire shares."""

from typing import Annotated, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from arena.text import text_problem


def _worded(text: str) -> str:
    if not text.strip():
        raise ValueError("must say something: it has nothing but white space")
    return text


Worded = Annotated[
    str,
    Field(min_length=1, json_schema_extra={"pattern": r"\S"}),
    AfterValidator(_worded),
]
"""A text that a person is going to read."""


class Wire(BaseModel):
    """What every shape shares: values that do not change."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class Asked(Wire):
    """What a client sends: a key that is not known is an error, not a silence."""

    # What JSON cannot say must not become a null on the way: another standard would be judged.
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")

    @field_validator("*")
    @classmethod
    def _refuse_unsayable(cls, value: object) -> object:
        if wrong := _unsayable(value):
            raise ValueError(wrong)
        return value


def _unsayable(value: object) -> str | None:
    """What in a text, or in one of a list, PostgreSQL cannot store or no answer could repeat."""
    if isinstance(value, list):
        return next(filter(None, map(_unsayable, cast(list[object], value))), None)
    if not isinstance(value, str):
        return None
    return text_problem(value)
