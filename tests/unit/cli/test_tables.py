"""Tables fit the screen: nothing is wrapped that must be copied, nothing is wider."""

import re

import pytest

from arena.cli.tables import in_words, print_table, print_values

RUN = "5e06f7d4-f474-4fa8-a834-b447442a7da2"
COLUMNS = ("run", "agent", "status", "passed", "started", "why")
ROW = (RUN, "qa-web-manager", "completed", "10/12", "2026-11-15 20:10:09", "word " * 60)


def shown(capsys: pytest.CaptureFixture[str], width: int, **options: object) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        # How Rich detects a terminal.
        patch.setenv("TTY_COMPATIBLE", "1")
        patch.setenv("COLUMNS", str(width))
        patch.setenv("NO_COLOR", "1")
        patch.setenv("TERM", "xterm")
        print_table(COLUMNS, [ROW], optional=("started", "passed"), **options)
    return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()


@pytest.mark.parametrize("width", [80, 100, 130, 200])
def test_no_line_is_wider_than_the_screen_and_ids_stay_whole(
    capsys: pytest.CaptureFixture[str], width: int
):
    lines = shown(capsys, width, lines=2)
    assert all(len(line) <= width for line in lines)
    assert any(RUN in line for line in lines)


def test_optional_columns_go_where_the_screen_is_narrow(capsys: pytest.CaptureFixture[str]):
    assert "started" in shown(capsys, 200)[0]
    narrow = shown(capsys, 110)[0]
    assert "started" not in narrow
    assert "status" in narrow


def test_ids_are_shortened_before_a_column_is_dropped(capsys: pytest.CaptureFixture[str]):
    assert any(RUN in line for line in shown(capsys, 200, ids=("run",)))
    head, first, *_ = shown(capsys, 110, ids=("run",))
    assert "started" in head
    assert first.split()[0] == RUN[:8]


def test_the_last_column_can_be_shown_whole(capsys: pytest.CaptureFixture[str]):
    table = shown(capsys, 150, lines=None)
    assert " ".join(table).count("word") == 60
    assert "…" not in " ".join(table)


@pytest.mark.parametrize("lines", [1, 2, 3])
def test_the_last_column_is_cut_after_so_many_lines(capsys: pytest.CaptureFixture[str], lines: int):
    table = shown(capsys, 150, lines=lines)
    assert len(table) == 1 + lines
    assert table[-1].rstrip().endswith("…")


def test_a_table_without_rows_is_its_head(capsys: pytest.CaptureFixture[str]):
    print_table(("a", "b"), [])
    assert capsys.readouterr().out.split() == ["a", "b"]


def test_a_cell_is_one_line_and_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]):
    print_table(("name", "x"), [("two\nlines \x1b[31m", "[bold]x")])
    assert capsys.readouterr().out.splitlines()[1].rstrip() == "two lines �[31m  [bold]x"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, "yes"),
        (1.0, "1"),
        (["a", "b"], "a, b"),
        (None, "–"),
        ({"contains": ["a"]}, '{"contains": ["a"]}'),
        ({"contains": ["word" * 5, "more" * 5, "much" * 5]}, None),
    ],
)
def test_values_are_shown_in_words(value: object, words: str | None):
    text = in_words(value)
    assert text == words if words else text.startswith("contains:\n- word")


def test_what_a_thing_does_not_have_is_left_out(capsys: pytest.CaptureFixture[str]):
    print_values({"id": "x", "nickname": None, "tags": [], "active": False})
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["id", "x"],
        ["active", "no"],
    ]
