"""What a transaction offers per unit of gas: at first, and when it is stuck."""

from dataclasses import dataclass

from arena.chain.answers import Fees
from arena.chain.errors import FeeTooHigh
from arena.chain.wei import GWEI

RAISE_PERCENT = 25
LEAST_RAISE_PERCENT = 10
"""Nodes refuse a replacement that does not pay at least so much more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Fees per unit of gas, in wei."""

    max_fee: int
    """The most that is paid, the tip included."""
    tip: int


def first_price(fees: Fees, limit: int) -> Price:
    """The price of a new transaction; `FeeTooHigh` if no block would take it within the limit."""
    if fees.base_fee > limit:
        raise FeeTooHigh(
            f"gas costs {fees.base_fee / GWEI:g} gwei now, the limit is {limit / GWEI:g} gwei: "
            "try again later, or raise ARENA_CHAIN_MAX_FEE_GWEI"
        )
    # Twice the base fee: it rises by an eighth per block at most, so this is enough for five full
    # blocks. What is not needed is not paid.
    max_fee = min(2 * fees.base_fee + fees.tip, limit)
    return Price(max_fee=max_fee, tip=min(fees.tip, max_fee))


def raised_price(max_fee: int, tip: int, fees: Fees, limit: int) -> Price | None:
    """The price of a replacement; None if the limit leaves no room for one that nodes accept."""
    raised = min(max(_raised(max_fee, RAISE_PERCENT), 2 * fees.base_fee + fees.tip), limit)
    if raised < _raised(max_fee, LEAST_RAISE_PERCENT):
        return None
    return Price(max_fee=raised, tip=min(max(_raised(tip, RAISE_PERCENT), fees.tip), raised))


def _raised(amount: int, percent: int) -> int:
    """Rounded up, so that a small amount is raised too."""
    return amount + -(-amount * percent // 100)
