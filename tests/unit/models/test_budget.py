import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.models.budget import (
    Budget,
    BudgetExceeded,
    Meter,
    Spent,
    check,
    current_meter,
    metered,
    spend,
)
from arena.models.usage import Usage

USAGE = Usage(input_tokens=900, output_tokens=100, model="m", cost_usd=0.01)


def refusal(meter: Meter) -> str | None:
    try:
        meter.check()
    except BudgetExceeded as error:
        return str(error)
    return None


def test_without_a_budget_nothing_is_counted_or_refused():
    assert current_meter() is None
    spend(USAGE)
    check()


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (Budget(max_cost_usd=0.02), "$0.02 of $0.02 spent (max_cost)"),
        (Budget(max_cost_usd=0.011), "$0.02 of $0.011000 spent (max_cost)"),
        (Budget(max_tokens=2000), "2,000 of 2,000 tokens used (max_tokens)"),
    ],
)
def test_a_limit_that_is_reached_says_which_and_what_was_spent(budget: Budget, message: str):
    meter = Meter(budget, Spent())
    meter.spend(USAGE)
    assert refusal(meter) is None
    meter.spend(USAGE)
    assert refusal(meter) == message


def test_time_counts_over_all_executions():
    assert refusal(Meter(Budget(max_minutes=2), Spent(seconds=119))) is None
    message = refusal(Meter(Budget(max_minutes=2), Spent(seconds=120)))
    assert message is not None and message.endswith("of 2 minutes passed (max_minutes)")


def test_what_was_spent_before_counts():
    meter = Meter(Budget(max_cost_usd=1), Spent(cost_usd=0.995, tokens=7, seconds=3))
    meter.spend(USAGE)
    assert meter.spent.tokens == 1007
    assert meter.spent.seconds >= 3
    assert refusal(meter) == "$1.005000 of $1.00 spent (max_cost)"


@pytest.mark.parametrize(
    ("budget", "usage", "message"),
    [
        (Budget(max_cost_usd=1), Usage(), "an answer has no known cost, so max_cost"),
        (Budget(max_cost_usd=1), Usage(model="m", input_tokens=1), "an answer of m has no known c"),
        (Budget(max_tokens=9), Usage(input_tokens=1), "an answer has no known token count, so max"),
    ],
)
def test_a_limit_that_cannot_be_kept_is_reached_unless_allowed(
    budget: Budget, usage: Usage, message: str
):
    meter = Meter(budget, Spent())
    meter.spend(usage)
    assert (refusal(meter) or "").startswith(message)
    meter = Meter(budget.changed_by(Budget(allow_unknown_prices=True)), Spent())
    meter.spend(usage)
    assert refusal(meter) is None


@pytest.mark.parametrize("budget", [Budget(max_tokens=10**6), Budget(max_minutes=9)])
def test_a_cost_need_not_be_known_where_money_is_not_limited(budget: Budget):
    meter = Meter(budget, Spent())
    meter.spend(Usage(input_tokens=1, output_tokens=1))
    assert refusal(meter) is None


async def test_tasks_that_a_run_starts_have_its_meter_and_no_others():
    meter = Meter(Budget(max_tokens=1500), Spent())

    async def ask() -> None:
        check()
        spend(USAGE)

    with metered(meter):
        await asyncio.gather(ask(), ask())
        with pytest.raises(BudgetExceeded):
            await ask()
    await ask()
    assert meter.spent.tokens == 2000


limits = st.builds(
    Budget,
    max_cost_usd=st.none() | st.floats(0.001, 100),
    max_tokens=st.none() | st.integers(1, 10**9),
    max_minutes=st.none() | st.floats(0.1, 1e6),
    allow_unknown_prices=st.none() | st.booleans(),
)


@given(limits)
def test_a_budget_survives_being_stored(budget: Budget):
    stored = budget.as_json()
    assert (stored is not None) == budget.is_limited
    if stored is not None:
        assert Budget(**stored) == replace(
            budget, allow_unknown_prices=bool(budget.allow_unknown_prices)
        )


@given(limits, limits)
def test_a_request_changes_only_the_limits_that_it_names(budget: Budget, request: Budget):
    changed = budget.changed_by(request)
    for name in Budget.__dataclass_fields__:
        named = getattr(request, name)
        assert getattr(changed, name) == (getattr(budget, name) if named is None else named)
