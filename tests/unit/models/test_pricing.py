import pytest

from arena.models.usage import Usage, priced


def usage(**fields: object) -> Usage:
    return Usage(**{"input_tokens": 1000, "output_tokens": 100, "model": "gpt-4o-mini"} | fields)


@pytest.mark.parametrize("base_url", [None, "https://api.openai.com/v1", "http://localhost:1/v1"])
def test_a_known_model_has_a_price_wherever_it_runs(base_url):
    assert priced(usage(), base_url=base_url).cost_usd == pytest.approx(0.00021)


def test_cached_tokens_are_cheaper_and_never_more_than_there_are():
    full, cached = priced(usage()), priced(usage(), cached_tokens=500)
    assert cached.cost_usd < full.cost_usd
    assert (
        priced(usage(), cached_tokens=10**9).cost_usd
        == priced(usage(), cached_tokens=1000).cost_usd
    )


@pytest.mark.parametrize(
    "unknown",
    [
        usage(model="a-model-nobody-knows"),
        usage(model=None),
        usage(input_tokens=None),
        usage(output_tokens=None),
    ],
)
def test_what_is_unknown_stays_unknown_and_is_never_zero(unknown):
    assert priced(unknown) == unknown
    assert priced(unknown).cost_usd is None


def test_a_cost_the_agent_reports_is_kept():
    assert priced(usage(cost_usd=9.0)).cost_usd == 9.0
