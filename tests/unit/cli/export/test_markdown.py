"""The Markdown summary: no text of an agent becomes markup, a link or a mention."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from arena.cli.export.markdown import MAX_CELL, MAX_ROWS, code, notes_list, pieces, table
from arena.cli.gate import Gate, GatePart
from arena.runs.differences import Note
from arena.runs.run import RunError, RunStatus
from arena.scoring.board import Provenance
from exported import a_quarantine, a_run, exported, text_of
from factories import a_result

TEXT = st.text(st.characters(exclude_categories=()), max_size=400)
MARKDOWN = MarkdownIt("commonmark").enable("table")


def failed(test_id: str = "bad", **changes: Any) -> Any:
    return a_result(
        **{"test_id": test_id, "passed": False, "failure_reason": "no", "score": 0.0, **changes}
    )


def cells_of(text: str) -> list[list[Token]]:
    """The inline parts of every cell of every table."""
    tokens = MARKDOWN.parse(text)
    return [
        tokens[place + 1].children or []
        for place, token in enumerate(tokens)
        if token.type in ("td_open", "th_open")
    ]


async def test_the_page_has_the_verdict_the_counts_and_the_failures():
    reason = "missed: the score 50.0 % is below 90 %"
    part = GatePart(option="--fail-under 90", passed=False, reason=reason)
    gate = Gate(passed=False, minimum=90, score=50, reason=reason, parts=(part,))
    error = RunError(test_id="away", trial=1, attempts=3, reason="no answer", category="web")
    text = await text_of(
        pieces(
            exported(
                [a_result(), failed(), failed("flaky")],
                errors=[error],
                gate=gate,
                quarantined=[a_quarantine("flaky")],
                total_tests=4,
                errored_tests=1,
            )
        )
    )
    assert text.startswith("## `my-agent@1.2.0`: 33.3 %\n\n**Failed.** 1 of 4 passed. ")
    assert "\nSuite `words` aaaaaaaaaaaa\n" in text
    assert "`--fail-under 90` missed: the score 50.0 % is below 90 %." in text
    assert "| `bad` | 1 | `custom` | `no` |" in text
    _, quarantined = text.split("### Quarantined failures, which do not block")
    assert "| `flaky` | 1 | `custom` | until 2026-12-31: `the host is flaky` |" in quarantined
    assert "| `away` | 1 | `web` | `no answer` |" in quarantined.partition("Not executed")[2]


async def test_a_run_that_did_not_complete_says_so():
    text = await text_of(pieces(exported([], total_tests=3, status=RunStatus.CANCELLED)))
    assert "**The run is cancelled: 0 of 3 passed.**" in text


async def test_a_reported_run_is_marked_as_a_claim():
    text = await text_of(pieces(exported([a_result()], provenance=Provenance.REPORTED)))
    assert "\nSuite `words` aaaaaaaaaaaa, reported, a claim\n" in text


@pytest.mark.parametrize(
    ("detail", "shown"),
    [
        ("a drop of 12.5 percentage points or more", "a drop of 12.5 percentage points or more"),
        ("no drop: they are too few", "no drop: they are too few"),
        ("2 (words_1, b)", "`2 (words_1, b)`"),
        ("www.example.org", "`www.example.org`"),
        ("www.1", "`www.1`"),
        ("@octocat", "`@octocat`"),
        (":smile:", "`:smile:`"),
        ("*a*", "`*a*`"),
    ],
)
def test_only_text_that_could_be_markup_stands_in_a_code_span(detail: str, shown: str):
    assert notes_list([Note(label="x", detail=detail)]) == f"\n- x: {shown}\n"


async def test_a_page_about_many_failures_stays_small_and_counts_the_rest():
    results = [failed(f"t{n}", failure_reason="`|" * 10_000) for n in range(3 * MAX_ROWS)]
    text = await text_of(pieces(exported(results)))
    assert f"… and {2 * MAX_ROWS} more: `arena runs show {a_run().id} --json`" in text
    assert len(text.encode()) < 1024**2 / 4


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("a|b", "a|b"),
        (r"a\|b", r"a\ |b"),
        ("`x` ``y``", "`x` ``y``"),
        ("<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"),
        ("@octocat #12 https://example.org", "@octocat #12 https://example.org"),
        ("one\ntwo\r\n\r\nthree", "one two three"),
        ("ends with \\", "ends with \\"),
        ("\x1b[31m", "\ufffd[31m"),
    ],
)
def test_text_is_shown_literally_in_a_code_span(said: str, shown: str):
    cells = cells_of(table(("why", "next"), [(code(said), "2")]))
    ((span,), (after,)) = cells[2:]
    assert (span.type, span.content) == ("code_inline", shown)
    assert after.content == "2"


@given(TEXT, TEXT)
def test_no_text_changes_the_shape_of_the_table(one: str, other: str):
    cells = cells_of(table(("a", "b"), [(code(one), code(other)), ("x", "y")]))
    assert len(cells) == 6
    for cell in cells[2:4]:
        assert [token.type for token in cell] in (["code_inline"], [])
    assert [cell[0].content for cell in cells[4:]] == ["x", "y"]


@given(TEXT)
def test_a_cell_is_cut(text: str):
    assert len(code(text * 10)) <= 3 * MAX_CELL
