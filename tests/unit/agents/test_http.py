from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from arena.agents.connector import AgentBusy
from arena.agents.http import fault_of_status, shortened
from arena.errors import AgentCrashed, AgentUnavailable
from arena.models.connections import seconds_to_wait


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("3", 3.0),
        ("0.5", 0.5),
        ("-4", 0.0),
        ("999999", 999999.0),  # whoever waits has a limit
        ("inf", 366 * 86_400.0),
        ("nan", None),
        ("soon", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),  # a date that has passed
        ("Wed, 21 Oct 2015 07:28:00 -0000", 0.0),
    ],
)
def test_retry_after_is_read_carefully(header, seconds):
    assert seconds_to_wait(header) == seconds


def test_retry_after_may_be_a_date():
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert 80 < (seconds_to_wait(soon) or 0) <= 90


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (429, AgentBusy, True),
        (503, AgentUnavailable, True),
        (401, AgentUnavailable, False),
        (404, AgentUnavailable, False),
        (302, AgentUnavailable, False),
        (400, AgentCrashed, None),
        (500, AgentCrashed, None),
    ],
)
def test_whose_fault_a_status_is(status, kind, retryable):
    fault = fault_of_status(status, excerpt="because")
    assert type(fault) is kind
    assert str(status) in fault.message
    assert getattr(fault, "retryable", None) is retryable


def test_an_excerpt_is_one_short_line():
    assert shortened("a\n\n b\tc") == "a b c"
    assert len(shortened("x" * 5000)) == 303
