import pytest

from arena.chain.answers import Fees
from arena.chain.errors import FeeTooHigh
from arena.chain.price import Price, first_price, raised_price
from arena.chain.wei import GWEI, in_coins


def fees(base: float, tip: float) -> Fees:
    return Fees(base_fee=int(base * GWEI), tip=int(tip * GWEI), block_number=1)


def price(max_fee: float, tip: float) -> Price:
    return Price(max_fee=int(max_fee * GWEI), tip=int(tip * GWEI))


@pytest.mark.parametrize(
    ("base", "tip", "limit", "expected"),
    [
        (10, 1, 200, price(21, 1)),  # room for the base fee to double
        (10, 1, 15, price(15, 1)),  # less room
        (10, 30, 15, price(15, 15)),  # a tip above the limit
        (10, 1, 10, price(10, 1)),  # just enough
        (0, 0, 10, price(0, 0)),  # a chain without fees
    ],
)
def test_the_first_price(base: float, tip: float, limit: float, expected: Price):
    assert first_price(fees(base, tip), int(limit * GWEI)) == expected


def test_a_base_fee_above_the_limit_is_refused():
    with pytest.raises(FeeTooHigh, match=r"gas costs 10\.5 gwei now, the limit is 10 gwei"):
        first_price(fees(10.5, 1), 10 * GWEI)


@pytest.mark.parametrize(
    ("base", "tip", "limit", "expected"),
    [
        (1, 1, 200, price(25, 2.5)),  # a quarter more
        (100, 5, 500, price(205, 5)),  # the market has risen by more
        (1, 1, 23, price(23, 2.5)),  # up to the limit
        (1, 1, 22, price(22, 2.5)),  # the least that nodes accept
        (1, 1, 21, None),  # which is not possible here
        (1, 1, 10, None),  # the limit was lowered
    ],
)
def test_the_price_of_a_replacement(base: float, tip: float, limit: float, expected: Price | None):
    found = raised_price(20 * GWEI, 2 * GWEI, fees(base, tip), limit * GWEI)
    assert found == expected


def test_a_price_of_a_few_wei_is_raised_too():
    assert raised_price(1, 1, fees(0, 0), GWEI) == Price(max_fee=2, tip=2)


@pytest.mark.parametrize(
    ("wei", "text"),
    [(0, "0"), (1, "0.000000000000000001"), (15 * 10**17, "1.5"), (-(10**18), "-1")],
)
def test_wei_in_coins(wei: int, text: str):
    assert in_coins(wei) == text
