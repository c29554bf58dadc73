"""Agents made with a real framework, in an environment of its own, whose spans become steps."""

import shutil
from pathlib import Path

import pytest
import yaml

from acceptance.conftest import Shell
from conftest import missing
from factories import write_agent

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/traced-agent"
PYTHON = ROOT / ".venv-frameworks/bin/python"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    if not PYTHON.exists():
        missing(".venv-frameworks (scripts/setup --frameworks)")
    return Shell(home=tmp_path / "home")


def test_the_example(shell: Shell):
    words = ("--agents", str(EXAMPLE), "--tests", str(EXAMPLE / "tests"), "--category", "weather")
    run = shell.json("run", "traced-agent", *words)
    results = {result["test_id"][-3:]: result for result in run["results"]}
    assert {name: result["passed"] for name, result in results.items()} == {
        "001": True,
        "002": True,
        "003": False,
    }
    steps = results["002"]["steps"]
    assert [(step["tool"], step["arguments"], step["source"]) for step in steps] == [
        ("weather", {"city": "Oslo"}, "trace"),
        ("to_fahrenheit", {"celsius": -3}, "trace"),
    ]
    assert steps[0]["result"] == {"sky": "snow", "celsius": -3}
    assert results["002"]["model"] == "function:model:"
    assert results["002"]["input_tokens"] > 0


@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_every_version_of_the_frameworks_instrumentation(shell: Shell, tmp_path, version):
    """They name their spans and attributes differently."""
    folder = tmp_path / "agent"
    shutil.copytree(EXAMPLE, folder)
    program = folder / "traced_agent.py"
    settings = "from pydantic_ai.models.instrumented import InstrumentationSettings as S\n"
    settings += f"Agent.instrument_all(S(version={version}))"
    program.write_text(program.read_text().replace("Agent.instrument_all()", settings))
    agent = yaml.safe_load((folder / "traced-agent.yaml").read_text())
    agent["connector"]["python"] = str(PYTHON)
    (folder / "traced-agent.yaml").write_text(yaml.safe_dump(agent))
    prompt = "What is the weather in Rome?"
    checked = shell.json(
        "agents", "check", "traced-agent", "--agents", str(folder), "--prompt", prompt
    )
    (step,) = checked["steps"]
    assert (step["tool"], step["arguments"]) == ("weather", {"city": "Rome"})
    assert step["result"] == {"sky": "sun", "celsius": 24}
    assert checked["input_tokens"] > 0


def test_a_check_says_why_there_are_no_steps(tmp_path):
    """Of an agent that sends spans of a trace of its own."""
    program = """
    from opentelemetry import context, trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
    provider.get_tracer("mine").start_span("execute_tool", context=context.Context()).end()
    return "hi"
    """
    shell = Shell(home=tmp_path / "home")
    write_agent(shell.home / "agents", "loner", program, traces={"wait_seconds": 0})
    done = shell.arena("agents", "check", "loner")
    assert "spans had another trace id (1)" in " ".join(done.stdout.split())
