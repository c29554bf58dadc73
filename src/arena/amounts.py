"""Amounts of money: integer minor units inside Arena, exact decimal text outside.

    Amount(50_000)                  <->  "0.05"       6 decimals, test money
    Amount(50 * 10**15, 18)         <->  "0.05"       18 decimals, the currency of a chain

An amount knows its decimals, so that it prints, compares and converts exactly. Its currency is that
of the ledger it is in. Test money is worth nothing.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

CURRENCY = "TEST"
DECIMALS = 6
"""One unit of test money is 10**6 minor units."""
MAX_DECIMALS = 18
"""Of any currency: one ether is 10**18 wei."""
MAX_AMOUNT = 10**15
"""In minor units of test money. Sums of them stay exact even for parsers that use doubles."""
WHOLE_DIGITS = 10
"""Digits of the largest amount before the point."""

MAX_DIGITS = 20
"""Of the integer part when parsing; a text may have a million digits."""

PATTERN = rf"^[0-9]{{1,{WHOLE_DIGITS}}}(\.[0-9]{{1,{MAX_DECIMALS}}})?$"
SCHEMA: dict[str, Any] = {
    "examples": ["0.05"],
    "description": f"Decimal text in the ledger's currency; {CURRENCY} has {DECIMALS} decimals.",
}

_TEXT = re.compile(rf"(-?)([0-9]+)(?:\.([0-9]{{1,{MAX_DECIMALS}}}))?")


class Amount(int):
    """Minor units, which calculate as an int and print as decimal text."""

    decimals: int
    """One unit of the currency is 10 to the power of this."""

    def __new__(cls, value: int = 0, decimals: int = DECIMALS) -> Self:
        """An amount of so many minor units."""
        made = super().__new__(cls, value)
        made.decimals = decimals
        return made

    @classmethod
    def parse(cls, text: str) -> Self:
        """A requested amount; `ValueError` if the text is not a valid one."""
        amount = cls._read(text)
        if text.startswith("-"):
            raise ValueError(f"it must be a decimal number of 0 or more, not {text}")
        if amount > cls(MAX_AMOUNT):
            raise ValueError(f"it is too large, the maximum is {cls(MAX_AMOUNT)}")
        return amount

    def at(self, decimals: int) -> Self:
        """The same amount in other minor units; `ValueError` if it has more decimals."""
        if decimals == self.decimals:
            return self
        scaled, rest = divmod(int(self) * 10**decimals, 10**self.decimals)
        if rest:
            raise ValueError(f"{self} has more than {decimals} decimals")
        return type(self)(scaled, decimals)

    def __str__(self) -> str:
        """Decimal text without trailing zeros."""
        whole, part = divmod(abs(int(self)), 10**self.decimals)
        decimals = f"{part:0{self.decimals}d}".rstrip("0")
        return f"{'-' if int(self) < 0 else ''}{whole}{'.' if decimals else ''}{decimals}"

    # Amounts of different decimals compare by value: "0.05" read from the wire is the reward of a
    # task on a chain. Everything else compares as an int.

    def __eq__(self, other: object) -> bool:
        mine, theirs = self._comparable(other)
        return bool(mine == theirs)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: int) -> bool:
        mine, theirs = self._comparable(other)
        return bool(mine < theirs)

    def __le__(self, other: int) -> bool:
        return self < other or self == other

    def __gt__(self, other: int) -> bool:
        return not self <= other

    def __ge__(self, other: int) -> bool:
        return not self < other

    def __hash__(self) -> int:
        return int.__hash__(self)

    def _comparable(self, other: Any) -> tuple[int, Any]:
        if not isinstance(other, Amount) or other.decimals == self.decimals:
            return int(self), other if not isinstance(other, Amount) else int(other)
        return int(self) * 10**other.decimals, int(other) * 10**self.decimals

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
                "write an amount as a decimal number with at most "
                f'{MAX_DECIMALS} decimals, like "0.05"'
            )
        sign, whole, part = found.groups()
        if len(whole) > MAX_DIGITS:
            raise ValueError(f"it is too large, the maximum is {cls(MAX_AMOUNT)}")
        decimals = DECIMALS if len(part or "") <= DECIMALS else MAX_DECIMALS
        amount = int(whole) * 10**decimals + int((part or "").ljust(decimals, "0"))
        return cls(-amount if sign else amount, decimals)

    @classmethod
    def _write(cls, value: object) -> str:
        return str(cls(value) if type(value) is int else cls._read(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Currency:
    """What a ledger pays in."""

    code: str
    decimals: int

    def amount(self, value: int) -> Amount:
        """An amount of so many minor units."""
        return Amount(value, self.decimals)


def money_words(currency: str) -> str:
    """A currency for people; that of Arena's own ledger is worth nothing."""
    return f"{currency} (test money)" if currency == CURRENCY else currency


TEST_MONEY = Currency(code=CURRENCY, decimals=DECIMALS)


def _checked(text: str) -> str:
    Amount.parse(text)
    return text


AmountText = Annotated[
    str, AfterValidator(_checked), Field(json_schema_extra={**SCHEMA, "pattern": PATTERN})
]
"""An amount in a request, as text."""
