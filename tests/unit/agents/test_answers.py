import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.agents.connector import (
    MAX_OUTPUT_BYTES,
    answer_from_bytes,
    answer_from_text,
    answer_from_value,
)
from arena.errors import AgentCrashed, AgentSaidNothing
from arena.models.usage import Usage, usage_from


@pytest.mark.parametrize(
    ("raw", "output"),
    [
        (b"  plain text \n", "plain text"),
        (b'{"output": "yes"}', "yes"),
        (b'{"output": 42}', "42"),
        (b'{"output": {"a": [1]}}', '{"a": [1]}'),
        (b'{"result": 1}', '{"result": 1}'),  # some other object is plain text
        (b'{"output": ', '{"output":'),
        (b"[1, 2]", "[1, 2]"),
        (b'"quoted"', '"quoted"'),
        (b"{" * 100_000, "{" * 100_000),  # too deep for a parser
    ],
)
def test_text_or_an_object_with_output_is_the_answer(raw, output):
    assert answer_from_bytes(raw).output == output


def test_an_object_that_was_cut_stays_text():
    answer = answer_from_bytes(b'{"output": "x"}', truncated=True)
    assert answer.output == '{"output": "x"}'
    assert answer.truncated


def test_an_answer_nested_too_deep_to_serialize_is_a_fault():
    value: list[object] = []
    for _ in range(5000):
        value = [value]
    with pytest.raises(AgentCrashed, match="too deep"):
        answer_from_value({"output": value})


@pytest.mark.parametrize(
    ("named", "language"),
    [
        ("go", "go"),
        ("Python3", "python"),
        ("js", "javascript"),
        # agents of other systems may have a key of this name and another meaning
        ("en", None),
        (["go"], None),
        (None, None),
    ],
)
def test_a_language_is_known_or_ignored(named, language):
    assert answer_from_value({"output": "x", "language": named}).language == language


@pytest.mark.parametrize("value", ["", " \n", None, {"output": ""}, {"output": None}])
def test_an_empty_answer_is_a_fault(value):
    with pytest.raises(AgentSaidNothing):
        answer_from_value(value)


@pytest.mark.parametrize(
    ("value", "usage"),
    [
        (None, Usage()),
        ("12", Usage()),
        ({}, Usage()),
        ({"input_tokens": 5, "output_tokens": 0}, Usage(input_tokens=5, output_tokens=0)),
        ({"input_tokens": 5.0}, Usage(input_tokens=5)),
        # invalid values are unknown, never zero
        ({"input_tokens": -1, "output_tokens": True}, Usage()),
        ({"input_tokens": "5", "output_tokens": 1.5}, Usage()),
        ({"input_tokens": float("nan"), "output_tokens": 10**30}, Usage()),
        ({"input_tokens": 10**400, "output_tokens": float("inf")}, Usage()),
        ({"cost_usd": float("inf"), "model": 3}, Usage()),
        ({"cost_usd": float("nan")}, Usage()),
        ({"cost_usd": 10**400}, Usage()),
        ({"cost_usd": 1, "model": "m" * 300}, Usage(cost_usd=1.0, model="m" * 200)),
    ],
)
def test_usage_is_taken_where_it_makes_sense(value, usage):
    assert usage_from(value) == usage


@given(st.text(st.characters(codec=None), min_size=1))
def test_every_text_becomes_one_that_can_be_stored(text):
    try:
        output = answer_from_text(text).output
    except AgentSaidNothing:
        assert not text.strip()
    else:
        assert "\0" not in output
        output.encode()  # no lone surrogate is left
        assert len(output) <= len(text)


def test_surrogates_that_belong_together_become_their_character():
    assert answer_from_value(json.loads(r'"\ud83d\ude42"')).output == "🙂"
    assert answer_from_text("\ud83d" + "\ude42").output == "🙂"


@pytest.mark.parametrize("character", ["x", "ß", "€", "🙂"])
def test_the_cap_counts_bytes_and_cuts_no_character(character):
    size = len(character.encode())
    exact = character * (MAX_OUTPUT_BYTES // size)
    assert not answer_from_text(exact).truncated
    answer = answer_from_text(exact + character)
    assert answer.truncated
    assert answer.output == exact
