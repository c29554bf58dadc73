"""Spans by the conventions of several exporters, as they really write them."""

from datetime import UTC, datetime
from itertools import count

import pytest

from arena.models.step import Step
from arena.models.usage import Usage
from arena.traces.span import Span
from arena.traces.steps import steps_of, usage_of

START = 1_700_000_000_000_000_000
ids = count(1)


def span(parent: Span | None = None, *, name="", start=START, error=None, **attributes) -> Span:
    """A span; in the names of attributes, `__` stands for a dot."""
    return Span(
        id=next(ids).to_bytes(8, "big"),
        parent_id=parent.id if parent else b"",
        name=name,
        start_nanoseconds=start,
        error=error,
        attributes={key.replace("__", "."): value for key, value in attributes.items()},
    )


def tool(parent: Span | None = None, *, named="weather", **more) -> Span:
    return span(parent, gen_ai__operation__name="execute_tool", gen_ai__tool__name=named, **more)


def chat(parent: Span | None = None, *, tokens=(10, 2), model="small", **more) -> Span:
    return span(
        parent,
        gen_ai__operation__name="chat",
        gen_ai__usage__input_tokens=tokens[0],
        gen_ai__usage__output_tokens=tokens[1],
        gen_ai__response__model=model,
        **more,
    )


CALL = {"tool": "weather", "arguments": {"city": "Paris"}, "result": {"sky": "clear"}}

DIALECTS = {
    "GenAI conventions": {
        "gen_ai__operation__name": "execute_tool",
        "gen_ai__tool__name": "weather",
        "gen_ai__tool__call__id": "call_1",
        "gen_ai__tool__call__arguments": '{"city": "Paris"}',
        "gen_ai__tool__call__result": '{"sky": "clear"}',
    },
    "GenAI conventions, structured": {
        "gen_ai__operation__name": "execute_tool",
        "gen_ai__tool__name": "weather",
        "gen_ai__tool__call__arguments": {"city": "Paris"},
        "gen_ai__tool__call__result": {"sky": "clear"},
    },
    "pydantic-ai, earlier": {
        "name": "running tool",
        "gen_ai__tool__name": "weather",
        "tool_arguments": '{"city":"Paris"}',
        "tool_response": '{"sky":"clear"}',
    },
    "Google ADK": {
        "gen_ai__operation__name": "execute_tool",
        "gen_ai__tool__name": "weather",
        "gcp__vertex__agent__tool_call_args": '{"city": "Paris"}',
        "gcp__vertex__agent__tool_response": '{"sky": "clear"}',
    },
    "OpenInference": {
        "openinference__span__kind": "TOOL",
        "tool__name": "weather",
        "input__value": '{"city": "Paris"}',
        "output__value": '{"sky": "clear"}',
    },
    "OpenInference, named by the span": {
        "name": "weather",
        "openinference__span__kind": "TOOL",
        "input__value": '{"city": "Paris"}',
        "output__value": '{"sky": "clear"}',
    },
    "Traceloop": {
        "traceloop__span__kind": "tool",
        "traceloop__entity__name": "weather",
        "traceloop__entity__input": '{"args": [], "kwargs": {"city": "Paris"}}',
        "traceloop__entity__output": '{"sky": "clear"}',
    },
    "Traceloop for LangChain": {
        "traceloop__span__kind": "tool",
        "traceloop__entity__name": "weather",
        "traceloop__entity__input": '{"input_str": "Paris", "inputs": {"city": "Paris"}}',
        "traceloop__entity__output": '{"sky": "clear"}',
    },
    "Vercel AI SDK": {
        "ai__operationId": "ai.toolCall",
        "ai__toolCall__name": "weather",
        "ai__toolCall__args": '{"city":"Paris"}',
        "ai__toolCall__result": '{"sky":"clear"}',
    },
    "MLflow": {
        "name": "weather",
        "mlflow__spanType": '"TOOL"',
        "mlflow__spanInputs": '{"city": "Paris"}',
        "mlflow__spanOutputs": '{"sky": "clear"}',
    },
}


@pytest.mark.parametrize("attributes", DIALECTS.values(), ids=DIALECTS)
def test_a_tool_call_is_recognised_in_every_dialect(attributes):
    assert steps_of([span(**attributes)]) == (
        Step(**CALL, time=datetime.fromtimestamp(START // 10**9, UTC), source="trace"),
    )


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai__operation__name": "chat", "gen_ai__tool__name": "weather"},
        {"gen_ai__operation__name": "invoke_agent", "gen_ai__agent__name": "weather"},
        {"gen_ai__operation__name": "execute_tool"},  # without a name
        {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": " "},
        {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": 7},
        {"traceloop__span__kind": "task", "traceloop__entity__name": "weather"},
        {"openinference__span__kind": "CHAIN", "name": "weather"},
        {"tool__name": "weather"},  # says nothing about what it is
        {"name": "running tools"},
    ],
)
def test_other_spans_are_no_steps(attributes):
    assert steps_of([span(**attributes)]) == ()


def test_steps_are_in_the_order_in_which_the_calls_began():
    spans = [tool(named=name, start=start) for name, start in (("c", 3), ("a", 1), ("b", 2))]
    assert [step.tool for step in steps_of(spans)] == ["a", "b", "c"]


def test_calls_of_the_same_moment_stay_in_the_order_of_arrival():
    assert [step.tool for step in steps_of([tool(named=n) for n in "cab"])] == list("cab")


def test_the_error_of_a_span_is_the_error_of_its_step():
    assert steps_of([tool(error="no such city")])[0].error == "no such city"


def test_a_call_that_two_instrumentations_describe_is_one_step():
    outer = tool(gen_ai__tool__call__id="call_1")
    wrapped = span(outer, name="HTTP")
    assert len(steps_of([outer, wrapped, tool(wrapped)])) == 1
    assert len(steps_of([outer, wrapped, tool(wrapped, gen_ai__tool__call__id="call_1")])) == 1


def test_a_tool_that_calls_tools_makes_a_step_for_each():
    outer = tool(named="ask_expert")
    again = tool(gen_ai__tool__call__id="call_1")
    assert len(steps_of([outer, tool(outer)])) == 2
    assert len(steps_of([again, tool(again, gen_ai__tool__call__id="call_2")])) == 2


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("plain text", "plain text"),
        ("42", "42"),  # a result that may well be a text
        ("[1, 2]", [1, 2]),
        ("[1, 2", "[1, 2"),
        ('{"n": NaN}', '{"n": NaN}'),  # no JSON
        ("[" * 5000, "[" * 5000),
        (True, True),
        (None, None),
    ],
)
def test_a_result_is_json_if_it_is_an_object_or_a_list(written, read):
    assert steps_of([tool(gen_ai__tool__call__result=written)])[0].result == read


def test_arguments_that_are_not_json_stay_text():
    assert steps_of([tool(gen_ai__tool__call__arguments="Paris")])[0].arguments == "Paris"


def test_a_span_without_a_time_makes_a_step_without_one():
    assert steps_of([tool(start=0)])[0].time is None
    assert steps_of([tool(start=2**64 - 1)])[0].time.year == 2554


def test_spans_in_a_circle_are_read():
    one, two = tool(), tool()
    circle = [
        Span(id=one.id, parent_id=two.id, attributes={**one.attributes, "input.value": "1"}),
        Span(id=two.id, parent_id=one.id, attributes=two.attributes),
    ]
    assert len(steps_of(circle)) <= 2
    assert usage_of(circle) == Usage()


def test_usage_is_the_sum_of_the_model_calls():
    agent = span(
        gen_ai__operation__name="invoke_agent",
        gen_ai__usage__input_tokens=30,
        gen_ai__usage__output_tokens=5,
    )
    spans = [agent, chat(agent, tokens=(10, 2)), chat(agent, tokens=(20, 3))]
    assert usage_of(spans) == Usage(input_tokens=30, output_tokens=5, model="small")


def test_a_model_call_inside_another_is_counted_once():
    outer = chat(tokens=(10, 2))
    assert usage_of([outer, chat(outer, tokens=(10, 2))]).input_tokens == 10


def test_without_model_calls_the_outermost_agents_count():
    attributes = {
        "gen_ai__operation__name": "invoke_agent",
        "gen_ai__aggregated_usage__input_tokens": 30,
        "gen_ai__aggregated_usage__output_tokens": 5,
    }
    outer = span(**attributes)
    assert usage_of([outer, span(outer, **attributes)]) == Usage(input_tokens=30, output_tokens=5)


def test_the_model_is_unknown_if_there_were_several():
    assert usage_of([chat(model="a"), chat(model="b")]).model is None


def test_a_cost_counts_only_if_every_call_has_one():
    assert usage_of([chat(operation__cost=0.5), chat(operation__cost=0.25)]).cost_usd == 0.75
    assert usage_of([chat(operation__cost=0.5), chat()]).cost_usd is None


@pytest.mark.parametrize(
    "attributes",
    [
        {"openinference__span__kind": "LLM", "llm__token_count__prompt": 10},
        {"llm__request__type": "chat", "gen_ai__usage__prompt_tokens": 10},
        {"ai__operationId": "ai.generateText.doGenerate", "ai__usage__inputTokens": 10},
    ],
)
def test_usage_of_other_dialects(attributes):
    assert usage_of([span(**attributes)]).input_tokens == 10


def test_usage_that_is_not_a_number_is_unknown():
    assert usage_of([chat(tokens=("many", -1))]) == Usage(model="small")
