import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.agents.connector import Answer
from arena.agents.event_stream import Event, EventReader, StreamedAnswer
from arena.agents.spec import HttpSpec, UsagePointers
from arena.errors import AgentCrashed, AgentSaidNothing
from arena.models.step import Step
from arena.models.usage import Usage


def events(*chunks: bytes) -> list[Event]:
    reader = EventReader()
    found = [event for chunk in chunks for event in reader.add(chunk)]
    return found + list(reader.end())


def answer(*data: object, kind: str = "", **keys: object) -> Answer:
    streamed = StreamedAnswer(HttpSpec(url="http://h/", **keys), lambda text: text)
    for each in data:
        text = each if isinstance(each, str) else json.dumps(each)
        streamed.add(Event(kind=kind, data=text))
    return streamed.answer()


def chunk(**delta: object) -> dict[str, object]:
    return {"choices": [{"delta": delta}]}


STREAM = (
    b": hello\nevent: a\ndata: one\ndata:two\nid: 7\n\ndata: th\xc3\xbcr ee\n\nevent: x\n\ndata:  z"
)
FOUND = [
    Event(kind="a", data="one\ntwo"),
    Event(kind="", data="thür ee"),
    Event(kind="", data=" z"),
]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_events_are_split_with_every_line_ending(end):
    assert events(STREAM.replace(b"\n", end)) == FOUND


@given(st.sets(st.integers(1, len(STREAM) + 7)), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_events_do_not_depend_on_how_the_bytes_arrive(cuts, end):
    raw = STREAM.replace(b"\n", end)
    places = [0, *sorted(cut for cut in cuts if cut < len(raw)), len(raw)]
    chunks = [raw[a:b] for a, b in itertools.pairwise(places)]
    assert events(*chunks) == FOUND


def test_chunks_of_openai_are_joined_with_usage_and_the_end_of_their_tokens():
    found = answer(
        chunk(role="assistant", content=""),
        chunk(content="Hel"),
        chunk(content="lo"),
        {"choices": [{"delta": {}, "finish_reason": "length"}], "model": "m"},
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}},
    )
    usage = Usage(input_tokens=3, output_tokens=4, model="m")
    assert found == Answer(output="Hello", usage=usage, truncated=True)


def test_tool_calls_are_joined_by_their_index():
    found = answer(
        chunk(tool_calls=[{"index": 0, "function": {"name": "f", "arguments": '{"a"'}}]),
        chunk(tool_calls=[{"index": 1, "function": {"name": "g", "arguments": ""}}]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": ": 1}"}}]),
    )
    assert found.steps == (Step(tool="f", arguments={"a": 1}), Step(tool="g", arguments=""))
    assert found.output.startswith('[{"tool": "f", "arguments": {"a": 1}}')


@pytest.mark.parametrize(
    ("data", "output"),
    [
        (("Hel", "lo ", "42", " {x"), "Hello 42 {x"),  # plain text
        (('"Hel"', '"lo"'), "Hello"),  # strings of JSON
        (({"delta": "Hel"}, {"delta": "lo"}), "Hello"),
        (({"text": "Hel"}, {"content": "lo"}, {"type": "ping"}), "Hello"),
        (({"output": "Hello", "usage": {}},), "Hello"),
        # all of it again at the end
        (({"delta": "Hel"}, {"delta": "lo"}, {"output": "Hello"}), "Hello"),
        (
            (
                {"type": "response.output_text.delta", "delta": "Hello"},
                {"type": "response.function_call_arguments.delta", "delta": "{}"},
                {"type": "response.output_text.done", "text": "Hello"},
            ),
            "Hello",
        ),
        (({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Hi"}},), "Hi"),
    ],
)
def test_other_events_are_joined_in_order(data, output):
    assert answer(*data).output == output


def test_a_pointer_says_where_the_piece_and_the_usage_are():
    found = answer(
        {"a": {"b": "Hel"}, "text": "ignored"},
        "not JSON",
        {"a": {"b": "lo"}},
        {"n": 5},
        answer="/a/b",
        usage=UsagePointers(output_tokens="n"),
    )
    assert found == Answer(output="Hello", usage=Usage(output_tokens=5))


def test_an_event_may_report_steps_with_errors_and_times_wherever_its_text_is():
    step = {"tool": "t", "error": "full", "time": "2026-01-31T12:00:00Z", "result": 1}
    found = answer({"d": "Hi"}, {"steps": [step]}, answer="/d")
    [one] = found.steps
    assert (found.output, one.error, one.result) == ("Hi", "full", 1)
    assert one.time is not None
    assert one.source == "agent"


def test_the_last_object_may_report_steps_and_that_it_is_cut():
    found = answer({"delta": "Hi"}, {"output": "Hi", "steps": [{"tool": "t"}], "truncated": True})
    assert (found.steps, found.truncated) == ((Step(tool="t"),), True)


@pytest.mark.parametrize(
    ("data", "kind"), [({"message": "no battery"}, "error"), ({"error": "no battery"}, "")]
)
def test_an_error_in_the_stream_is_a_failure(data, kind):
    with pytest.raises(AgentCrashed, match=r"sent an error: .*no battery"):
        answer(data, kind=kind)


def test_a_stream_without_text_says_what_to_do():
    with pytest.raises(AgentCrashed, match="say with 'answer' where"):
        answer({"reply": "Hello"})
    with pytest.raises(AgentSaidNothing):
        answer()
