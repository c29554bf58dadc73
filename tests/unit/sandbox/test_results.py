import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.sandbox.errors import ProtocolViolation
from arena.sandbox.limits import Limit
from arena.sandbox.ports import CaseOutcome
from arena.sandbox.results import MAX_VALUES, complete, decode, read_results


def test_results_in_order_are_taken() -> None:
    data = b'[0,"value",{"a":1},3]\n[1,"error","ValueError: x",3]\n[2,"memory","MemoryError",9]\n'
    results = read_results(data, 3)
    assert [outcome.value for outcome in results.outcomes] == [{"a": 1}, None, None]
    assert results.outcomes[1].error == "ValueError: x"
    assert results.outcomes[2].limit is Limit.MEMORY
    assert list(results.output_marks) == [3, 3, 9]
    assert results.failure is None


BROKEN = {
    "cut off": b'[0,"value",1,0]\n[1,"val',
    "out of order": b'[0,"value",1,0]\n[2,"value",1,0]\n',
    "twice": b'[0,"value",1,0]\n[0,"value",1,0]\n',
    "not a list": b'{"passed": true}\n',
    "three fields": b'[0,"value",1]\n',
    "index is true": b'[true,"value",1,0]\n',
    "unknown kind": b'[0,"passed",1,0]\n',
    "two documents": b'[0,"value",1,0] [1,"value",1,0]\n',
    "not utf-8": b"\xff\n",
    "constant": b'[0,"value",NaN,0]\n',
    "duplicate key": b'[0,"value",{"a":1,"a":2},0]\n',
    "unknown tag": b'[0,"value",{"$arena":"x"},0]\n',
    "tag with a number": b'[0,"value",{"$arena":1},0]\n',
    "set without members": b'[0,"value",{"$arena":"set"},0]\n',
    "entry without a value": b'[0,"value",{"$arena":"map","entries":[[1]]},0]\n',
    "late load error": b'[0,"value",1,0]\n[-1,"error","x",0]\n',
    "empty line": b"\n",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
def test_anything_else_is_a_violation(data) -> None:
    results = read_results(data, 3)
    assert results.failure is not None
    assert "protocol violation" in str(results.failure.error)
    assert len(results.outcomes) <= 1


def test_more_results_than_cases_invalidate_all_of_them() -> None:
    results = read_results(b'[0,"value",1,0]\n[1,"value",1,0]\n', 1)
    assert results.outcomes == []
    assert results.failure is not None


def test_a_submission_that_cannot_be_loaded_fails_every_case() -> None:
    results = read_results(b'[-1,"error","SyntaxError: x",0]\n', 2)
    cases = complete(results, 2, CaseOutcome(error="other"))
    assert [case.error for case in cases] == ["SyntaxError: x"] * 2


def test_missing_results_have_failed() -> None:
    results = read_results(b'[0,"value",1,0]\n', 3)
    cases = complete(results, 3, CaseOutcome(error="gone"))
    assert [case.error for case in cases] == [None, "gone", "gone"]


@given(st.binary(max_size=200))
def test_no_bytes_upset_the_reader(data) -> None:
    results = read_results(data, 2)
    assert len(complete(results, 2, CaseOutcome(error="x"))) == 2


@given(st.text(max_size=100))
def test_no_text_upsets_the_decoder(text) -> None:
    try:
        decode(text)
    except ProtocolViolation:
        return


@pytest.mark.parametrize("depth", [300, 100_000])
def test_depth_is_a_violation(depth) -> None:
    with pytest.raises(ProtocolViolation, match=r"nested|agreed"):
        decode("[" * depth + "]" * depth)
    with pytest.raises(ProtocolViolation):
        decode('{"a":' * depth + "1" + "}" * depth)


def test_an_endless_number_is_a_violation() -> None:
    with pytest.raises(ProtocolViolation):
        decode("9" * 10_000)


MANY = {
    "lists": "[" + "[]," * (MAX_VALUES // 2) + "[]]",
    "objects": "[" + '{"":0},' * (MAX_VALUES // 2) + "0]",
    "numbers": "[" + "0," * MAX_VALUES + "0]",
    "texts": '["' + '","' * MAX_VALUES + '"]',
    # A scanner that takes the escaped quote for the end of the string sees only strings.
    "numbers between quotes": '["\\"",' + "0," * MAX_VALUES + '"\\""]',
    "numbers behind a backslash": '["\\\\",' + "0," * MAX_VALUES + '"\\\\"]',
}


@pytest.mark.parametrize("value", MANY.values(), ids=MANY.keys())
def test_too_many_values_are_over_the_limit(value) -> None:
    results = read_results(b'[0,"value",1,0]\n[1,"value",%s,0]\n' % value.encode(), 2)
    assert results.failure is not None
    assert results.failure.limit is Limit.RESULT
    assert not results.outcomes
    with pytest.raises(ProtocolViolation, match="values"):
        decode(value)


LARGE = {
    "a text of commas": "," * (8 << 20),
    "a text of quotes and brackets": '"[\\' * (1 << 20),
    "numbers": list(range(200_000)),
    "short texts": [str(n) for n in range(200_000)],
}


@pytest.mark.parametrize("value", LARGE.values(), ids=LARGE.keys())
def test_large_values_are_taken(value) -> None:
    results = read_results(b'[0,"value",%s,0]\n' % json.dumps(value).encode(), 1)
    assert [outcome.value == value for outcome in results.outcomes] == [True]
