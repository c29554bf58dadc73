"""Agents that send their spans with the real OpenTelemetry SDK, each in a process of its own."""

import asyncio
import json
import os
import socket
import sys

import httpx2
import pytest

from arena.agents.connector import Question
from arena.agents.spec import HttpSpec, OpenAISpec, TracesSpec
from arena.agents.workspace_folder import WorkspaceFolder
from arena.errors import AgentCrashed, AgentUnavailable
from arena.models.step import Step

TRACED = TracesSpec(wait_seconds=30)
"""A wait that no test sits out: it ends when the root span has arrived."""

TRACING = """
import json, os, sys
from opentelemetry import propagate, trace
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("an agent")

def export(exporter=None):
    provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))

def work(city, context=None):
    # As an agent framework does it: a root span, a model call, a tool call that may fail.
    with tracer.start_as_current_span("invoke_agent", context=context):
        with tracer.start_as_current_span("chat small") as span:
            span.set_attribute("gen_ai.operation.name", "chat")
            span.set_attribute("gen_ai.request.model", "no-such-model")
            span.set_attribute("gen_ai.usage.input_tokens", 11)
            span.set_attribute("gen_ai.usage.output_tokens", 3)
        try:
            with tracer.start_as_current_span("execute_tool weather") as span:
                span.set_attribute("gen_ai.operation.name", "execute_tool")
                span.set_attribute("gen_ai.tool.name", "weather")
                span.set_attribute("gen_ai.tool.call.arguments", json.dumps({"city": city}))
                if city == "Nowhere":
                    raise LookupError("no such city")
                span.set_attribute("gen_ai.tool.call.result", json.dumps({"sky": "clear"}))
        except LookupError:
            return "unknown"
    return "clear"
"""

ONE_SHOT = """
from tracing import *
export(OTLPSpanExporter(compression=Compression.{compression}))
question = json.load(sys.stdin)
context = propagate.extract({{"traceparent": os.environ["TRACEPARENT"]}})
print(work(question["prompt"], context))
provider.shutdown()
"""

PERSISTENT = """
from tracing import *
export()  # once: its environment has the token of the session
for line in sys.stdin:
    question = json.loads(line)
    context = propagate.extract(question["trace"])
    print(json.dumps({"id": question["id"], "output": work(question["prompt"], context)}))
"""


@pytest.fixture
def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@pytest.fixture
def traced(bench):
    """A bench of agents that have the module `tracing`."""
    bench.write("tracing.py", TRACING)
    return bench


def weather(step: Step) -> tuple[str, object, object, str]:
    assert step.time is not None
    return step.tool, step.arguments, step.result, step.source


@pytest.mark.parametrize("compression", ["NoCompression", "Gzip"])
async def test_a_command(traced, ask, compression):
    connector = traced.command(ONE_SHOT.format(compression=compression), traces=TRACED)
    answer = await ask(connector, "Paris")
    assert answer.output == "clear"
    assert [weather(step) for step in answer.steps] == [
        ("weather", {"city": "Paris"}, {"sky": "clear"}, "trace")
    ]
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (11, 3)
    assert answer.usage.model == "no-such-model"
    assert answer.steps_problem is None


async def test_the_error_of_a_tool(traced, ask):
    connector = traced.command(ONE_SHOT.format(compression="Gzip"), traces=TRACED)
    (step,) = (await ask(connector, "Nowhere")).steps
    assert "no such city" in step.error


async def test_a_persistent_command(traced, ask):
    connector = traced.command(PERSISTENT, persistent=True, traces=TRACED)
    cities = ["Paris", "Oslo", "Rome"]
    answers = [await ask(connector, city, id=city) for city in cities]
    assert [answer.steps[0].arguments for answer in answers] == [{"city": city} for city in cities]


async def test_questions_at_the_same_time_get_their_own_spans(traced, ask):
    connector = traced.command(PERSISTENT, persistent=True, traces=TRACED)
    cities = [f"City {number}" for number in range(6)]
    answers = await asyncio.gather(*(ask(connector, city, id=city) for city in cities))
    assert [[step.arguments["city"] for step in answer.steps] for answer in answers] == [
        [city] for city in cities
    ]


async def test_a_function_needs_nothing_but_an_exporter(traced, ask):
    connector = traced.function(
        """
        from tracing import *
        export()

        def answer(prompt):
            return work(prompt)
        """,
        traces=TRACED,
    )
    for city in ("Paris", "Oslo"):
        assert (await ask(connector, city)).steps[0].arguments == {"city": city}


async def test_a_function_that_works_on_files(traced, ask, tmp_path):
    """Its process ends with the question, and has sent its spans by then."""
    connector = traced.function(
        """
        from tracing import *
        export()

        def answer(prompt):
            return work(prompt)
        """,
        traces=TRACED,
    )
    folder = tmp_path / "files"
    folder.mkdir()
    workspace = WorkspaceFolder(path=folder, files={})
    question = Question(id="q", prompt="Paris", timeout_seconds=20, workspace=workspace)
    assert (await connector.answer(question)).steps[0].arguments == {"city": "Paris"}


async def test_an_async_function(traced, ask):
    connector = traced.function(
        """
        from tracing import *
        export()

        async def answer(prompt):
            return work(prompt)
        """,
        traces=TRACED,
    )
    assert [step.tool for step in (await ask(connector, "Oslo")).steps] == ["weather"]


async def test_a_function_gets_the_trace_if_it_accepts_it(bench, ask):
    connector = bench.function(
        """
        import json, os

        def answer(prompt, *, trace=None):
            return json.dumps([trace, os.environ["TRACEPARENT"]])
        """,
        traces=TracesSpec(wait_seconds=0),
    )
    trace, traceparent = json.loads((await ask(connector)).output)
    assert trace["traceparent"] == traceparent
    assert trace["endpoint"].startswith("http://127.0.0.1:")
    assert trace["headers"]["authorization"].startswith("Bearer ")


async def test_an_http_agent(traced, ask, server):
    """One that sends the spans of a question to where the question says."""
    program = traced.write(
        "program.py",
        """
        from tracing import *
        headers = json.load(sys.stdin)
        export(OTLPSpanExporter(
            endpoint=headers["arena-trace-endpoint"] + "/v1/traces",
            headers={"authorization": headers["arena-trace-authorization"]},
        ))
        print(work("Paris", propagate.extract(headers)), end="")
        provider.shutdown()
        """,
    )

    async def answer(request, writer):
        process = await asyncio.create_subprocess_exec(
            sys.executable, program, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate(json.dumps(request.headers).encode())
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(output)}\r\n\r\n"
        writer.write(head.encode() + output)

    server.do(answer)
    connector = traced.connect(HttpSpec(url=server.url), traces=TRACED)
    reply = await ask(connector)
    assert [weather(step) for step in reply.steps] == [
        ("weather", {"city": "Paris"}, {"sky": "clear"}, "trace")
    ]


async def test_a_server_that_was_set_up_before(bench, ask, server, unused_port):
    """Its port and its token are in the agent's file, and it knows both."""
    sent = []

    async def answer(request, writer):
        _, trace_id, parent_id, _ = request.headers["traceparent"].split("-")
        span = {
            "traceId": trace_id,
            "spanId": "00000000000000aa",
            "parentSpanId": parent_id,
            "attributes": [{"key": "gen_ai.tool.name", "value": {"stringValue": "search"}}],
        }
        async with httpx2.AsyncClient(timeout=60) as client:
            response = await client.post(
                f"http://127.0.0.1:{unused_port}/v1/traces",
                json={"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]},
                headers={"authorization": "Bearer known-to-both"},
            )
        sent.append(response.status_code)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")

    server.do(answer)
    traces = TracesSpec(wait_seconds=30, port=unused_port, token_env="TRACE_TOKEN")
    environ = {**os.environ, "TRACE_TOKEN": "known-to-both"}
    connector = bench.connect(HttpSpec(url=server.url), traces=traces, environ=environ)
    assert [step.tool for step in (await ask(connector)).steps] == ["search"]
    assert sent == [200]


async def test_a_port_in_use_is_an_error_that_names_it(bench, ask, server):
    port = int(server.url.rpartition(":")[2])
    connector = bench.command("print('hi')", traces=TracesSpec(port=port))
    with pytest.raises(AgentUnavailable, match=f"cannot receive traces on 127.0.0.1:{port}"):
        await ask(connector)


async def test_steps_and_usage_of_the_answer_itself_win(traced, ask):
    connector = traced.function(
        """
        from tracing import *
        export()

        def answer(prompt):
            work(prompt)
            steps = [{"tool": "said"}]
            return {"output": "x", "steps": steps, "usage": {"input_tokens": 5}}
        """,
        traces=TRACED,
    )
    answer = await ask(connector, "Paris")
    assert [(step.tool, step.source) for step in answer.steps] == [("said", "agent")]
    assert answer.usage.input_tokens == 5
    assert answer.usage.output_tokens is None


async def test_secrets_in_spans_are_redacted(traced, ask):
    connector = traced.command(
        "import os\n"
        + ONE_SHOT.format(compression="Gzip").replace('question["prompt"]', 'os.environ["MY_KEY"]'),
        env=("MY_KEY",),
        environ={**os.environ, "MY_KEY": "s3cret-value"},
        traces=TRACED,
    )
    (step,) = (await ask(connector)).steps
    assert "s3cret-value" not in str(step)


async def test_an_agent_that_never_exports_costs_the_stated_wait(bench, ask):
    connector = bench.command("print('hi')", traces=TracesSpec(wait_seconds=0.05))
    answer = await ask(connector)
    assert (answer.output, answer.steps) == ("hi", ())
    assert "no spans arrived within 0.05 s" in (answer.steps_problem or "")
    assert answer.waited_seconds >= 0.05


async def test_an_agent_that_ignores_the_trace_is_told_so(traced, ask):
    source = ONE_SHOT.format(compression="Gzip").replace(", context)", ")")
    connector = traced.command(source, traces=TracesSpec(wait_seconds=0))
    answer = await ask(connector, "Paris")
    assert answer.steps == ()
    assert "must continue the trace of TRACEPARENT" in answer.steps_problem


async def test_an_agent_that_fails_is_not_waited_for(bench, ask):
    connector = bench.command("raise SystemExit(3)", traces=TRACED)
    with pytest.raises(AgentCrashed):
        await ask(connector)


async def test_every_question_gets_another_trace(bench, ask):
    connector = bench.command(
        "import os; print(os.environ['TRACEPARENT'], os.environ['OTEL_EXPORTER_OTLP_HEADERS'])",
        traces=TracesSpec(wait_seconds=0),
    )
    answers = [(await ask(connector)).output for _ in range(2)]
    ((one, token), (two, other)) = (answer.split() for answer in answers)
    assert one != two and token != other


async def test_a_cancelled_question_gives_its_place_up(bench, ask):
    connector = bench.command("import time; time.sleep(600)", traces=TRACED)
    asking = asyncio.create_task(ask(connector, timeout=600))
    traced = connector._connector
    while traced._session is None or not traced._session._inboxes:
        await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert traced._session._inboxes == {}


async def test_a_connector_without_traces_starts_no_receiver(bench, ask):
    connector = bench.command("import os; print('TRACEPARENT' in os.environ)")
    assert (await ask(connector)).output == "False"


def test_a_model_cannot_be_traced(bench):
    with pytest.raises(AgentUnavailable, match="cannot pass traces on"):
        bench.connect(OpenAISpec(base_url="http://127.0.0.1:1", model="m"), traces=TRACED)


def test_without_the_extra_the_error_says_what_to_install(bench, monkeypatch):
    for name in ("arena.agents.traced", "arena.traces.receiver", "arena.traces.otlp"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(
        sys.modules, "opentelemetry.proto.collector.trace.v1.trace_service_pb2", None
    )
    with pytest.raises(AgentUnavailable, match=r'pip install "agent-arena\[traces\]"'):
        bench.command("print('hi')", traces=TRACED)
