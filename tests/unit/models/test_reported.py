"""Values that endpoints report: usage and Retry-After."""

import json

import pytest

from arena.models.completion import read_completion
from arena.models.connections import seconds_to_wait
from arena.models.usage import Usage, summed, usage_from


@pytest.mark.parametrize("tokens", [10**400, -(10**400), float("nan"), float("inf"), 1.5, True])
def test_tokens_that_make_no_sense_are_unknown(tokens: object):
    assert usage_from({"input_tokens": tokens, "cost_usd": 10**400}) == Usage()


def test_a_completion_with_an_endless_number_of_tokens_is_still_an_answer():
    body = {"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": 10**400}}
    read = read_completion(json.dumps(body).encode(), model="m")
    assert (read.text, read.usage.input_tokens) == ("yes", None)


@pytest.mark.parametrize(
    "header",
    [
        "soon",
        "nan",
        "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
        "Mon, 01 Jan 2026 00:00:00 +99999999999999",
    ],
)
def test_an_unreadable_retry_after_is_ignored(header: str):
    assert seconds_to_wait(header) is None


def test_a_sum_that_no_column_can_hold_is_unknown():
    much = Usage(input_tokens=2_000_000_000, output_tokens=1, cost_usd=0.5)
    total = summed([much, much])
    assert (total.input_tokens, total.output_tokens, total.cost_usd) == (None, 2, 1.0)
