"""Money as people write it, exact. Inside Arena it is whole minor units.

    "0.05"  <->  50000

There is one currency, and it is worth nothing: test money.
"""

import re

CURRENCY = "TEST"
DECIMALS = 6
"""One unit of the currency is 10 to the 6 minor units."""
MAX_AMOUNT = 10**15
"""Minor units. Sums of such amounts stay exact even for readers that keep numbers as doubles."""
WHOLE_DIGITS = 10
"""As many as the largest amount has before its point."""

_AMOUNT = re.compile(rf"([0-9]+)(?:\.([0-9]{{1,{DECIMALS}}}))?")


def minor_units(text: str) -> int:
    """The amount that a decimal text names."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise ValueError(
            f'write an amount as a decimal number with at most {DECIMALS} decimals, like "0.05"'
        )
    whole, part = found.groups()
    # Counted before it is read: a text may have a million digits.
    if len(whole) <= WHOLE_DIGITS:
        amount = int(whole) * 10**DECIMALS + int((part or "").ljust(DECIMALS, "0"))
        if amount <= MAX_AMOUNT:
            return amount
    raise ValueError(f"it is too large, the most is {decimal_text(MAX_AMOUNT)}")


def decimal_text(amount: int) -> str:
    """An amount as text, without needless zeros."""
    sign = "-" if amount < 0 else ""
    whole, part = divmod(abs(amount), 10**DECIMALS)
    decimals = f"{part:0{DECIMALS}d}".rstrip("0")
    return f"{sign}{whole}.{decimals}" if decimals else f"{sign}{whole}"
