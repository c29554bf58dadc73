"""Money on the wire: decimal text, exact. Inside Arena it is whole minor units.

    "0.05"  <->  50000

There is one currency, and it is worth nothing: test money. A JSON number is refused, since most
readers make a float of it, and a float is not an amount.
"""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

CURRENCY = "TEST"
DECIMALS = 6
"""One unit of the currency is 10 to the 6 minor units."""

_AMOUNT = re.compile(r"([0-9]{1,10})(?:\.([0-9]{1,6}))?")


def minor_units(text: str) -> int:
    """The amount that a decimal text names."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        told = f'write an amount as a decimal number with at most {DECIMALS} decimals, like "0.05"'
        raise ValueError(told)
    whole, part = found.groups()
    return int(whole) * 10**DECIMALS + int((part or "").ljust(DECIMALS, "0"))


def decimal_text(amount: int) -> str:
    """An amount as text, without needless zeros."""
    sign = "-" if amount < 0 else ""
    whole, part = divmod(abs(amount), 10**DECIMALS)
    decimals = f"{part:0{DECIMALS}d}".rstrip("0")
    return f"{sign}{whole}.{decimals}" if decimals else f"{sign}{whole}"


def _checked(text: str) -> str:
    minor_units(text)
    return text


Amount = Annotated[
    str,
    AfterValidator(_checked),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": r"^[0-9]{1,10}(\.[0-9]{1,6})?$",
            "examples": ["0.05"],
            "description": f"Decimal text in {CURRENCY}, at most {DECIMALS} decimals.",
        }
    ),
]
"""What a client asks for."""

Shown = Annotated[str, Field(examples=["0.05"], description=f"Decimal text in {CURRENCY}.")]
"""What a client is told; below zero where money went away."""
