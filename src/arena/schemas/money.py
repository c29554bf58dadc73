"""Money on the wire: decimal text.

A JSON number is refused, since most readers make a float of it, and a float is not an amount.
"""

from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from arena.amounts import CURRENCY, DECIMALS, WHOLE_DIGITS, minor_units


def _checked(text: str) -> str:
    minor_units(text)
    return text


Amount = Annotated[
    str,
    AfterValidator(_checked),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": rf"^[0-9]{{1,{WHOLE_DIGITS}}}(\.[0-9]{{1,{DECIMALS}}})?$",
            "examples": ["0.05"],
            "description": f"Decimal text in {CURRENCY}, at most {DECIMALS} decimals.",
        }
    ),
]
"""What a client asks for."""

Shown = Annotated[str, Field(examples=["0.05"], description=f"Decimal text in {CURRENCY}.")]
"""What a client is told; below zero where money went away."""
