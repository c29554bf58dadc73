"""JUnit files: valid by the common schema whatever an agent says, and read by two parsers."""

import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import junitparser
import pytest
import xmlschema
import xunitparser
from hypothesis import given
from hypothesis import strategies as st

from arena.cli.export.junit import MAX_OUTPUT, pieces
from arena.models.step import Step
from arena.runs.run import RunError, RunStatus
from arena.scoring.board import Provenance
from arena.scoring.history import ExecutionStatus
from exported import RUN_ID, a_quarantine, exported, text_of
from factories import a_result

SCHEMA = xmlschema.XMLSchema(Path(__file__).parents[3] / "fixtures" / "junit.xsd")

TEXT = st.text(st.characters(exclude_categories=()), max_size=200)
"""Any text, also with control characters, lone surrogates and noncharacters."""

FAILED = {"passed": False, "score": 0.0, "failure_reason": '"yes" is missing'}


async def written(*results: Any, **changes: Any) -> str:
    text = await text_of(pieces(exported(results, **changes)))
    SCHEMA.validate(text)
    return text


def suite_of(text: str) -> ElementTree.Element:
    (suite,) = ElementTree.fromstring(text.encode())
    return suite


async def test_a_reported_run_is_marked_as_a_claim():
    text = await written(a_result(), provenance=Provenance.REPORTED)
    assert '<property name="provenance" value="reported, a claim"/>' in text


async def test_every_kind_of_case_is_read_by_two_independent_parsers():
    results = (
        a_result(test_id="good"),
        a_result(test_id="bad", **FAILED),
        a_result(test_id="late", **FAILED | {"status": ExecutionStatus.TIMEOUT}),
        a_result(test_id="people", passed=None, score=None),
        a_result(test_id="flaky", **FAILED),
        a_result(test_id="healthy"),
    )
    error = RunError(test_id="away", trial=1, attempts=3, reason="no answer", category="web")
    text = await written(
        *results,
        errors=[error],
        quarantined=[a_quarantine("flaky"), a_quarantine("healthy")],
        total_tests=7,
        errored_tests=1,
    )
    (suite,) = junitparser.JUnitXml.fromstring(text.encode())
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (7, 2, 1, 2)
    cases = {case.name: case for case in suite}
    kinds = {name: [type(one).__name__ for one in case.result] for name, case in cases.items()}
    assert kinds == {
        "good": [],
        "healthy": [],
        "bad": ["Failure"],
        "late": ["Failure"],
        "away": ["Error"],
        "people": ["Skipped"],
        "flaky": ["Skipped"],
    }
    assert cases["late"].result[0].type == "timeout"
    assert cases["bad"].result[0].message == '"yes" is missing'
    assert cases["bad"].result[0].text == '"yes" is missing\n\noutput:\nyes'
    assert cases["away"].classname == "my-agent.web"
    assert cases["flaky"].result[0].message == (
        'quarantined until 2026-12-31 (the host is flaky); failed: "yes" is missing'
    )

    parsed, outcome = xunitparser.parse(io.BytesIO(text.encode()))
    assert (outcome.testsRun, len(outcome.failures), len(outcome.errors)) == (7, 2, 1)
    assert len(outcome.skipped) == 2
    assert parsed.properties["agent"] == "my-agent"
    assert parsed.properties["version"] == "1.2.0"
    assert parsed.properties["run"] == str(RUN_ID)
    assert parsed.properties["provenance"] == "run here"
    assert {case.time.total_seconds() for case in parsed} == {0.1, 0.0}


async def test_every_trial_is_a_case_and_the_trials_of_a_test_stand_together():
    results = [a_result(test_id=name, trial=trial) for trial in (2, 1) for name in ("b", "a")]
    names = [case.get("name") for case in suite_of(await written(*results)).iter("testcase")]
    assert names == ["a (trial 1)", "a (trial 2)", "b (trial 1)", "b (trial 2)"]


@pytest.mark.parametrize("status", [RunStatus.CANCELLED, RunStatus.FAILED])
async def test_a_run_that_did_not_finish_does_not_look_good(status: RunStatus):
    text = await written(a_result(), total_tests=5, status=status)
    (error,) = suite_of(text).iter("error")
    assert error.get("message") == f"4 results missing: the run is {status}"
    assert suite_of(text).get("errors") == "1"


async def test_a_run_without_results_is_a_valid_file():
    assert suite_of(await written(status=RunStatus.CANCELLED)).get("tests") == "0"


async def test_a_long_output_is_cut():
    text = await written(a_result(**FAILED, actual_output={"output": "x" * 10**6}))
    (failure,) = suite_of(text).iter("failure")
    assert failure.text is not None
    assert len(failure.text) < MAX_OUTPUT + 100
    assert failure.text.endswith("… (cut)")


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("]]> <b>&amp;", "]]> <b>&amp;"),
        ("\x1b[31m\x00", "\ufffd[31m\ufffd"),
        ("\ud800 \ud83d\ude00", "\ufffd \U0001f600"),  # half a pair, and a whole one
        ("\ufffe\uffff", "\ufffd\ufffd"),
        ("a\r\nb\rc\td", "a\nb\nc\td"),
    ],
)
async def test_text_of_an_agent_is_read_back_as_far_as_xml_allows(said: str, read: str):
    text = await written(a_result(**FAILED | {"failure_reason": said}, actual_output=None))
    (failure,) = suite_of(text).iter("failure")
    assert failure.text == read
    assert failure.get("message") == read.partition("\n")[0]


@given(reason=TEXT, answer=TEXT, category=TEXT.filter(str.strip), why=TEXT)
async def test_no_text_makes_the_file_invalid(reason: str, answer: str, category: str, why: str):
    changes = {"failure_reason": reason, "actual_output": {"output": answer}}
    result = a_result(**FAILED | changes | {"category": category})
    error = RunError(test_id="e", trial=1, attempts=1, reason=why, category=category)
    text = await written(result, errors=[error], total_tests=3, error_message=reason)
    assert suite_of(text).get("tests") == "3"
    junitparser.JUnitXml.fromstring(text.encode())


async def test_a_failure_lists_its_first_steps_with_their_source():
    steps = [Step(tool=f"t{n}", source="trace") for n in range(1, 31)]
    text = await written(a_result(steps=steps, **FAILED))
    assert "1. t1 (from the agent's trace)\n2. t2" in text
    assert "20. t20 (from the agent's trace)\nand 10 more" in text
    assert "t21" not in text


async def test_a_failure_says_which_files_were_changed():
    workspace = {"changes": [{"path": "a.py", "kind": "changed"}], "is_protected": False}
    text = await written(a_result(workspace=workspace, **FAILED))
    assert "files: changed a.py; unprotected: the agent could have read the hidden files" in text
