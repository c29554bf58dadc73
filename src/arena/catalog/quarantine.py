"""The key `quarantine` of a test: until a day it informs and does not block a gate."""

import re
from datetime import date
from typing import Annotated

from pydantic import AfterValidator, BaseModel, StringConstraints, ValidatorFunctionWrapHandler

from arena.documents.validation import type_name
from arena.fields import STRICT

ONE_LINE = r"^[^\r\n]*\S[^\r\n]*$"
DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
"""Stricter than `date.fromisoformat`, which also takes weeks and dates without dashes."""
NO_DATE = "must be a date like 2026-12-31"


def _check_date(text: str) -> str:
    try:
        if DATE.fullmatch(text):
            return date.fromisoformat(text).isoformat()
    except ValueError:
        pass  # a day that does not exist
    raise ValueError(NO_DATE)


class QuarantineKeys(BaseModel):
    """The keys of a quarantine."""

    model_config = STRICT

    until: Annotated[str, AfterValidator(_check_date)]
    reason: Annotated[str, StringConstraints(pattern=ONE_LINE, max_length=200)] | None = None


def read_quarantine(value: object, handler: ValidatorFunctionWrapHandler) -> QuarantineKeys:
    """A quarantine, from its mapping or only its date."""
    if isinstance(value, str):
        return QuarantineKeys.model_construct(until=_check_date(value), reason=None)
    if not isinstance(value, dict):
        raise ValueError(f"{NO_DATE}, or a mapping with until and reason, is {type_name(value)}")
    return handler(value)
