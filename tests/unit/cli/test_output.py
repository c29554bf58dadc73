"""The output for people and for programs."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from arena.cli import output
from arena.operations.server import Health


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [red]text[/]", "plain [red]text[/]"),  # no markup is obeyed
        ("\x1b[2Jgone", "�[2Jgone"),  # a terminal is not driven by an agent
        ("a\tb\r\nc", "a b\nc"),
        ("right \u202e left", "right � left"),
        ("👩\u200d👩\u200d👧 👩🏽\u200d🚀 🏳️\u200d🌈", "👩\u200d👩\u200d👧 👩🏽\u200d🚀 🏳️\u200d🌈"),
        ("می\u200cروم", "می\u200cروم"),  # Persian writes it within a word
        ("Pa\u200dris 1\u200d0", "Pa�ris 1�0"),  # here it could only hide something
        ("👩\u200d", "👩�"),
        ("\u200d👩 👩\u200d\u202e👩", "�👩 👩��👩"),
        (None, ""),
    ],
)
def test_untrusted_text_is_printed_without_effect(text: str | None, shown: str):
    assert output.plain(text).plain == shown


def test_json_has_the_names_of_the_api_and_any_character(capsys: pytest.CaptureFixture[str]):
    health = Health(version="1 – ü")
    output.print_json({"health": health, "at": datetime(2026, 1, 1, tzinfo=UTC)})
    printed = json.loads(capsys.readouterr().out)
    assert printed["health"] == {"status": "ok", "version": "1 – ü"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (datetime(2026, 11, 18, 12, tzinfo=UTC), "2026-11-18 12:00 UTC"),
        (datetime(2026, 11, 18, 12, 0, 7, tzinfo=UTC), "2026-11-18 12:00:07 UTC"),
        (datetime(2026, 11, 18, tzinfo=timezone(timedelta(hours=1))), "2026-11-17 23:00 UTC"),
        (None, "–"),
    ],
)
def test_a_moment_says_that_it_is_utc(value: datetime | None, shown: str):
    assert output.moment(value) == shown


@pytest.mark.parametrize(("number", "shown"), [(0, "0 files"), (1, "1 file"), (2, "2 files")])
def test_things_are_counted_in_words(number: int, shown: str):
    assert output.counted(number, "file") == shown
