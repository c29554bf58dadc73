"""Durations and times as people type them."""

from datetime import UTC, datetime, timedelta

import pytest

from arena import clock
from arena.cli.spans import moment_of, seconds_in
from arena.errors import InvalidInput
from arena.market.task import MAX_DEADLINE_DAYS


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("10m", 600), ("2h", 7200), ("1d", 86_400)]
)
def test_a_span_has_a_unit(text: str, seconds: int):
    assert seconds_in("--x", text) == seconds


@pytest.mark.parametrize("text", ["", "h", "-1h", "1.5h", "1w", "soon", "9" * 10])
def test_other_text_is_no_span(text: str):
    with pytest.raises(InvalidInput, match="--x"):
        seconds_in("--x", text)


def test_a_moment_is_a_date_or_a_span_from_now():
    assert moment_of("--x", "2030-01-31T12:00:00Z") == datetime(2030, 1, 31, 12, tzinfo=UTC)
    assert moment_of("--x", "2030-01-31T12:00:00").tzinfo is not None
    before = clock.now()
    assert before + timedelta(hours=2) <= moment_of("--x", "2h") <= clock.now() + timedelta(hours=2)


def test_the_moment_that_is_advised_can_be_used():
    with pytest.raises(InvalidInput, match="--x is 'tomorrow'") as refused:
        moment_of("--x", "tomorrow")
    advised = moment_of("--x", refused.value.message.split()[-1])
    assert clock.now() < advised < clock.now() + timedelta(days=MAX_DEADLINE_DAYS)


@pytest.mark.parametrize(
    "text",
    [
        "999999999d",
        "0001-01-01",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-12:00",
        "",
        "٣d",
    ],
)
def test_a_moment_that_no_calendar_has_is_refused(text: str):
    with pytest.raises(InvalidInput, match="--deadline"):
        moment_of("--deadline", text)
