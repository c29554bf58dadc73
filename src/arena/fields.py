"""Pydantic field types that several rooms share."""

from typing import Annotated

from pydantic import AfterValidator, Field


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


NonBlank = Annotated[
    str,
    Field(min_length=1, json_schema_extra={"pattern": r"\S"}),
    AfterValidator(_not_blank),
]
"""A text that is not blank."""
