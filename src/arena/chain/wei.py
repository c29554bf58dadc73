"""Amounts of a chain's own currency: integers of wei inside, exact decimal text outside."""

DECIMALS = 18
GWEI = 10**9


def in_coins(wei: int) -> str:
    """Decimal text without trailing zeros: 1500000000000000000 wei is `1.5`."""
    whole, part = divmod(abs(wei), 10**DECIMALS)
    decimals = f"{part:0{DECIMALS}d}".rstrip("0")
    return f"{'-' if wei < 0 else ''}{whole}{'.' if decimals else ''}{decimals}"
