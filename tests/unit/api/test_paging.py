"""Cursors: issued ones are read back; nothing else is accepted."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.operations import paging

AWARE = st.datetimes(timezones=st.just(UTC))


@given(st.integers(0, 2**31 - 1))
def test_a_number_comes_back(number: int):
    assert paging.decode_number(paging.encode(number)) == number


@given(AWARE, st.uuids())
def test_a_moment_comes_back(moment: datetime, ident: UUID):
    assert paging.decode_moment(paging.encode(moment.isoformat(), ident)) == (moment, ident)


def test_without_a_cursor_paging_starts_at_the_beginning():
    assert paging.decode_number(None) == 0
    assert paging.decode_moment(None) is None


@given(st.text())
def test_any_text_is_a_cursor_or_an_error_of_the_caller(text: str):
    for decode in (paging.decode_number, paging.decode_moment):
        try:
            decode(text)
        except InvalidInput as refused:
            assert "cursor" in refused.message


@pytest.mark.parametrize("number", [-1, 2**31, 10**30, "x", ""])
def test_a_number_out_of_range_is_refused(number: object):
    with pytest.raises(InvalidInput):
        paging.decode_number(paging.encode(number))


@pytest.mark.parametrize(
    "moment",
    [
        # The year 1 in the east began before the calendar does.
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5))).isoformat(),
        "9999-12-31T23:59:59-05:00",
        "yesterday",
        "",
    ],
)
def test_a_moment_that_no_calendar_has_is_refused(moment: str):
    with pytest.raises(InvalidInput):
        paging.decode_moment(paging.encode(moment, uuid4()))
