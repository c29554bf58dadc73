"""What people and programs get to see."""

import json
from datetime import UTC, datetime

import pytest

from arena.cli import output
from arena.dashboard.report import pages
from arena.operations.server import Health


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [red]text[/]", "plain [red]text[/]"),  # no markup is obeyed
        ("\x1b[2Jgone", "�[2Jgone"),  # a terminal is not driven by an agent
        ("a\tb\r\nc", "a b\nc"),
        ("right \u202e left", "right � left"),
        (None, ""),
    ],
)
def test_text_of_strangers_is_shown_and_not_obeyed(text: str | None, shown: str):
    assert output.plain(text).plain == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0.0, "0 ms"),
        (0.0123, "12 ms"),
        (0.9994, "999 ms"),
        (1.0, "1.0 s"),
        (61, "61.0 s"),
    ],
)
def test_spans_have_a_fitting_unit(value: float | None, shown: str):
    assert output.seconds(value) == shown


def test_a_missing_share_is_a_dash():
    assert (output.percent(None), output.percent(0.0), output.percent(91.666)) == (
        "–",
        "0.0 %",
        "91.7 %",
    )


def test_json_has_the_names_of_the_api_and_any_character(capsys: pytest.CaptureFixture[str]):
    health = Health(version="1 – ü")
    output.print_json({"health": health, "at": datetime(2026, 1, 1, tzinfo=UTC)})
    told = json.loads(capsys.readouterr().out)
    assert told["health"] == {"status": "ok", "version": "1 – ü"}


@pytest.mark.parametrize(("number", "shown"), [(0, "0 files"), (1, "1 file"), (2, "2 files")])
def test_things_are_counted_in_words(number: int, shown: str):
    assert output.counted(number, "file") == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(99.94, "99.9"), (99.95, "99.95"), (99.98, "99.98"), (99.9999, "99.99"), (100.0, "100.0")],
)
def test_a_score_under_100_never_reads_as_100(value: float, shown: str):
    assert output.percent(value) == pages.percent(value) == f"{shown} %"
