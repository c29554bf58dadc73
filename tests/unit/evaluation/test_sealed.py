"""Hidden cases: fixed in advance, kept secret, revealed with the verdict."""

import copy
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.content.canonical import canonical
from arena.errors import InfrastructureError, InvalidInput
from arena.evaluation.cases import score_of, with_hidden_cases
from arena.evaluation.evaluate import evaluate
from arena.evaluation.fields import InvalidStandard
from arena.evaluation.reading import read_standard_document
from arena.evaluation.resources import NotJudged, Resources
from arena.evaluation.sealed import (
    Opening,
    SealedFolder,
    commitment_of,
    read_private_part,
    seal,
    seal_name,
    unopened,
    write_private_part,
)
from arena.evaluation.verdict import Finding, Submission

STANDARD = {
    "type": "test_cases",
    "functionName": "add",
    "language": "python",
    "cases": [
        {"input": [1, 2], "expected": 3},
        {"input": [2, 2], "expected": 4, "hidden": True, "desc": "secret"},
        {"input": [0, 0], "expected": 0, "hidden": False},
        {"input": [5, 5], "expected": 10, "hidden": True, "language": "javascript"},
    ],
}


def test_the_public_part_reveals_nothing_of_the_hidden_cases():
    before = copy.deepcopy(STANDARD)
    public, openings = seal(STANDARD)
    assert before == STANDARD
    assert public["cases"] == [{"input": [1, 2], "expected": 3}, {"input": [0, 0], "expected": 0}]
    assert [opening.case["input"] for opening in openings] == [[2, 2], [5, 5]]
    assert "secret" not in json.dumps(public)
    assert public["sealed"] == [commitment_of(opening) for opening in openings]
    assert read_standard_document(public).sealed == tuple(public["sealed"])


def test_sealing_twice_gives_other_commitments():
    first, second = seal(STANDARD)[0], seal(STANDARD)[0]
    assert not set(first["sealed"]) & set(second["sealed"])


def test_the_first_cases_can_be_the_public_ones():
    cases = [{"input": [n], "expected": n} for n in range(5)]
    public, openings = seal({**STANDARD, "cases": cases}, public=2)
    assert public["cases"] == cases[:2]
    assert [opening.case for opening in openings] == cases[2:]
    everything, openings = seal({**STANDARD, "cases": cases}, public=0)
    assert everything["cases"] == []
    assert len(openings) == len(read_standard_document(everything).sealed) == 5


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"type": "checklist"}, "test_cases"),
        ({"cases": "none"}, "list of cases"),
        ({"cases": [{"input": [1], "expected": 1}]}, "no case is hidden"),
        ({"cases": [{"input": [1], "expected": 1, "hidden": 1}]}, "true or false"),
        ({"cases": [{"input": [1], "hidden": True}]}, "expected"),
        ({"functionName": ""}, "functionName"),
        ({"sealed": ["0" * 64]}, "already sealed"),
        (
            {
                "cases": [
                    {"input": [1], "expected": 1},
                    {"input": [1], "expected": 1, "hidden": True},
                ]
            },
            "hide nothing",
        ),
    ],
)
def test_what_cannot_be_sealed_is_refused(change: dict[str, object], why: str):
    with pytest.raises(InvalidInput, match=why):
        seal({**STANDARD, **change})
    with pytest.raises(InvalidInput):
        seal([1])


def test_marks_and_a_number_do_not_go_together():
    with pytest.raises(InvalidInput, match="marked"):
        seal(STANDARD, public=1)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=8,
)


@given(json_values, json_values)
def test_a_commitment_fixes_the_case_to_the_last_digit(one: object, other: object):
    salt = "ab" * 32
    first, second = (Opening(salt=salt, case={"expected": value}) for value in (one, other))
    same = canonical(one) == canonical(other)
    assert (commitment_of(first) == commitment_of(second)) is same
    assert commitment_of(Opening(salt="ac" * 32, case={"expected": one})) != commitment_of(first)


def test_openings_must_open_every_commitment_in_order():
    public, openings = seal(STANDARD)
    sealed = public["sealed"]
    assert unopened(sealed, openings) is None
    assert unopened(sealed, openings[::-1]) == "sealed[0]"
    assert unopened(sealed, openings[:1]) is not None
    changed = Opening(salt=openings[1].salt, case={**openings[1].case, "expected": 11})
    assert unopened(sealed, [openings[0], changed]) == "sealed[1]"


def test_a_private_part_reads_back(tmp_path: Path):
    public, openings = seal(STANDARD)
    data = write_private_part(openings)
    assert read_private_part(data) == tuple(openings)
    folder = SealedFolder(tmp_path)
    assert folder(public["sealed"]) is None
    folder.path(public["sealed"]).write_bytes(data)
    assert folder.path(public["sealed"]).name == f"{seal_name(public['sealed'])}.json"
    assert folder(public["sealed"]) == tuple(openings)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b'{"type":"test_cases"}',
        b'{"cases":[{"case":{},"salt":"ab"}],"type":"sealed_cases"}',
        b'{"cases":[{"case":[],"salt":"' + b"ab" * 32 + b'"}],"type":"sealed_cases"}',
        b'{"cases":{},"type":"sealed_cases"}',
    ],
)
def test_an_invalid_private_part_is_refused(tmp_path: Path, data: bytes):
    with pytest.raises(InvalidInput):
        read_private_part(data)
    folder = SealedFolder(tmp_path)
    folder.path(["a"]).write_bytes(data)
    with pytest.raises(InfrastructureError, match="json"):
        folder(["a"])


def test_hidden_cases_come_behind_the_public_ones_in_their_own_language():
    public, openings = seal(STANDARD)
    whole = with_hidden_cases(read_standard_document(public), [o.case for o in openings])
    assert [case.expected for case in whole.cases] == [3, 0, 4, 10]
    languages = [case.language or whole.language for case in whole.cases]
    assert languages == ["python", "python", "python", "javascript"]
    with pytest.raises(InvalidStandard, match=r"sealed\[0\]"):
        with_hidden_cases(read_standard_document(public), [{"input": []}])


@pytest.mark.parametrize(
    "sealed",
    ["x", [], ["0" * 63], ["0" * 64, "0" * 64], ["G" * 64], [1]],
)
def test_invalid_commitments_are_refused(sealed: object):
    with pytest.raises(InvalidStandard, match="sealed"):
        read_standard_document({"type": "test_cases", "cases": [], "sealed": sealed})


async def test_a_sealed_standard_is_never_judged_by_its_public_cases_alone():
    public, openings = seal(STANDARD)
    standard = read_standard_document(public)
    submission = Submission(output="def add(a, b): return a + b")
    with pytest.raises(NotJudged, match=seal_name(public["sealed"])):
        await evaluate(standard, submission)
    with pytest.raises(NotJudged, match="is missing"):
        await evaluate(standard, submission, Resources(unseal=lambda _: None))
    with pytest.raises(NotJudged, match=r"sealed\[0\]"):
        await evaluate(standard, submission, Resources(unseal=lambda _: openings[::-1]))
    with pytest.raises(NotJudged, match="2 commitments with 0"):
        await evaluate(standard, submission, Resources(unseal=lambda _: ()))


@pytest.mark.parametrize(
    ("passed", "public", "score"),
    [
        ([True, True, False], 3, 66),  # nothing is hidden
        ([True] * 99 + [False], 99, 0),  # memorised the public ones
        ([True, True, True, False], 2, 50),
        ([False, False, True, True], 2, 50),
        ([False, True], 0, 50),  # all are hidden
        ([True] * 4, 2, 100),
    ],
)
def test_public_cases_of_a_sealed_standard_earn_nothing(
    passed: list[bool], public: int, score: int
):
    findings = [Finding(criterion="a case", passed=one, reason="") for one in passed]
    assert score_of(findings, public) == score


def test_the_standard_on_the_page_can_be_sealed():
    page = (Path(__file__).parents[3] / "docs" / "verdicts.md").read_text()
    (example,) = re.findall(r"(?ms)^```json\n(.*?)^```", page)
    public, openings = seal(json.loads(example))
    assert (len(public["cases"]), len(openings)) == (1, 1)
