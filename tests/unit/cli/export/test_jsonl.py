"""JSON Lines: a result per line, with the fields of `--json`."""

import json

from hypothesis import given
from hypothesis import strategies as st

from arena.cli import output
from arena.cli.export.json import pieces as json_pieces
from arena.cli.export.jsonl import pieces
from arena.operations.runs import SCHEMA_VERSION
from exported import RUN_ID, exported, text_of
from factories import a_result


async def test_a_line_has_the_fields_of_the_result_and_names_its_run():
    results = [a_result(), a_result(test_id="t2", passed=False)]
    text = await text_of(pieces(exported(results)))
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["test_id"] for line in lines] == ["t1", "t2"]
    for line, result in zip(lines, results, strict=True):
        assert line == {
            "schema_version": SCHEMA_VERSION,
            "run_id": str(RUN_ID),
            "agent_id": "my-agent",
            "agent_version": "1.2.0",
            "suite": "words",
            "suite_version": "a" * 64,
            "provenance": "run_here",
            **output.jsonable(result),
        }


@given(st.text())
async def test_any_output_is_one_line(said: str):
    text = await text_of(pieces(exported([a_result(actual_output={"output": said})])))
    (line,) = text.splitlines()
    assert json.loads(line)["actual_output"] == {"output": said}


async def test_the_whole_run_as_json_has_a_schema_version_and_every_result():
    document = json.loads(await text_of(json_pieces(exported([a_result(), a_result()]))))
    assert document["schema_version"] == SCHEMA_VERSION
    assert len(document["results"]) == document["count"] == 2
    assert "gate" not in document
