"""The estimate that decides what the event loop may do itself."""

import pytest

from arena.pools.effort import effort


@pytest.mark.parametrize(
    "value",
    [
        ["x"] * 1000,
        {f"key {number}": None for number in range(500)},
        "x" * 64_000,
        [10**4000] * 100,
        [{"a": [{"b": ["x" * 640]}]}] * 100,
    ],
    ids=["values", "keys", "text", "digits", "nested"],
)
def test_everything_that_takes_time_counts(value: object):
    assert effort(value, limit=10**6) >= 1000
    assert effort(value, limit=500) > 500
