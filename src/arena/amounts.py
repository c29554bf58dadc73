"""Amounts of money: integer minor units inside Arena, exact decimal text outside.

    Amount(50_000)  <->  "0.05"

There is one currency, and it is worth nothing: test money.
"""

import re
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

CURRENCY = "TEST"
DECIMALS = 6
"""One unit of the currency is 10**6 minor units."""
MAX_AMOUNT = 10**15
"""In minor units. Sums of such amounts stay exact even for parsers that use doubles."""
WHOLE_DIGITS = 10
"""Digits of the largest amount before the point."""

MAX_DIGITS = 20
"""Of the integer part when parsing; a text may have a million digits."""

PATTERN = rf"^[0-9]{{1,{WHOLE_DIGITS}}}(\.[0-9]{{1,{DECIMALS}}})?$"
SCHEMA: dict[str, Any] = {
    "examples": ["0.05"],
    "description": f"Decimal text in {CURRENCY}, at most {DECIMALS} decimals.",
}

_TEXT = re.compile(rf"(-?)([0-9]+)(?:\.([0-9]{{1,{DECIMALS}}}))?")


class Amount(int):
    """Minor units, which calculate as an int and print as decimal text."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """A requested amount; `ValueError` if the text is not a valid one."""
        amount = cls._read(text)
        if text.startswith("-"):
            raise ValueError(f"it must be a decimal number of 0 or more, not {text}")
        if amount > MAX_AMOUNT:
            raise ValueError(f"it is too large, the maximum is {cls(MAX_AMOUNT)}")
        return amount

    def __str__(self) -> str:
        """Decimal text without trailing zeros."""
        whole, part = divmod(abs(int(self)), 10**DECIMALS)
        decimals = f"{part:0{DECIMALS}d}".rstrip("0")
        return f"{'-' if self < 0 else ''}{whole}{'.' if decimals else ''}{decimals}"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """On the wire an amount is text.

        A JSON number is refused: most parsers turn it into a float, which is not exact.
        """
        return core_schema.no_info_plain_validator_function(
            cls._read,
            json_schema_input_schema=core_schema.str_schema(pattern=PATTERN),
            serialization=core_schema.plain_serializer_function_ser_schema(
                cls._write, return_schema=core_schema.str_schema()
            ),
            metadata={"pydantic_js_updates": SCHEMA},
        )

    @classmethod
    def _read(cls, value: object) -> Self:
        # More permissive than `parse`: a balance may exceed any single amount, and be negative.
        if isinstance(value, cls):
            return value
        found = _TEXT.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            raise ValueError(
                f'write an amount as a decimal number with at most {DECIMALS} decimals, like "0.05"'
            )
        sign, whole, part = found.groups()
        if len(whole) > MAX_DIGITS:
            raise ValueError(f"it is too large, the maximum is {cls(MAX_AMOUNT)}")
        amount = int(whole) * 10**DECIMALS + int((part or "").ljust(DECIMALS, "0"))
        return cls(-amount if sign else amount)

    @classmethod
    def _write(cls, value: object) -> str:
        return str(cls(value) if isinstance(value, int) else cls._read(value))


def _checked(text: str) -> str:
    Amount.parse(text)
    return text


AmountText = Annotated[
    str, AfterValidator(_checked), Field(json_schema_extra={**SCHEMA, "pattern": PATTERN})
]
"""An amount in a request, as text."""
