"""CSV files: read back as they were written, and executed by no spreadsheet."""

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.cli.export.csv import COLUMNS, MAX_CELL, pieces, safe_text
from arena.models.step import Step
from exported import RUN_ID, a_quarantine, exported, text_of
from factories import a_result

TEXT = st.text(st.characters(exclude_categories=()), max_size=200)


async def rows_of(*results: Any, **changes: Any) -> list[dict[str, str]]:
    text = await text_of(pieces(exported(results, **changes)))
    text.encode()
    assert text.endswith("\r\n")
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


async def test_a_row_per_result_with_numbers_as_numbers():
    failed = a_result(
        test_id="t2",
        passed=False,
        score=-2.5,
        failure_reason='says "a", then "b"',
        actual_output={"output": "one\ntwo"},
    )
    first, second = await rows_of(a_result(), failed, quarantined=[a_quarantine("t2")])
    assert tuple(first) == COLUMNS
    assert (first["run_id"], first["agent_id"], first["outcome"]) == (
        str(RUN_ID),
        "my-agent",
        "passed",
    )
    assert (first["score"], first["duration_seconds"], first["input_tokens"]) == (
        "100.0",
        "0.1",
        "",
    )
    assert (second["score"], second["outcome"]) == ("-2.5", "failed")
    assert second["failure_reason"] == 'says "a", then "b"'
    assert second["output"] == "one\ntwo"
    assert (first["quarantined_until"], second["quarantined_until"]) == ("", "2026-12-31")


@pytest.mark.parametrize("said", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\n=1", "＝1"])
async def test_a_text_that_a_spreadsheet_would_execute_is_defused(said: str):
    (row,) = await rows_of(a_result(actual_output={"output": said}, model=said))
    assert row["output"] == f"'{said}"
    assert row["model"] == f"'{said}"


async def test_a_cell_is_not_longer_than_a_spreadsheet_can_hold():
    (row,) = await rows_of(a_result(actual_output={"output": "x" * 10**6}))
    assert len(row["output"]) == MAX_CELL
    assert row["output"].endswith("… (cut)")


@given(output=TEXT, reason=TEXT, category=TEXT)
async def test_any_text_is_read_back(output: str, reason: str, category: str):
    changes = {"failure_reason": reason, "category": category, "passed": False}
    result = a_result(**changes, actual_output={"output": output})
    (row,) = await rows_of(result)
    assert [row["output"], row["failure_reason"], row["category"]] == [
        safe_text(one) for one in (output, reason, category)
    ]
    assert not row["output"].lstrip().startswith(("=", "+", "-", "@"))


@given(TEXT)
def test_a_text_without_special_characters_is_unchanged(text: str):
    kept = "".join(c for c in text if c.isalnum())
    assert safe_text(kept) == kept


async def test_steps_are_lines_with_their_source():
    steps = [
        Step(tool="=cmd", arguments={"a": 1}, result=[2], source="arena"),
        Step(tool="b", error="full"),
    ]
    (row,) = await rows_of(a_result(steps=steps))
    assert row["steps"] == (
        '\'=cmd {"a": 1} → [2] (played by Arena)\nb failed: full (claimed by the agent)'
    )
