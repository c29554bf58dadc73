"""Budgets: real runs whose agent and judge are one scripted model server that counts its calls."""

import asyncio
import json
import math
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from app_transport import AppTransport
from arena.api.app import create_app
from arena.assembly import Arena
from arena.client import Client
from arena.errors import Conflict, InvalidInput
from arena.models.budget import Budget
from arena.runs.run import Run, RunRequest, RunStatus
from arena.settings import Settings
from databases import open_house
from factories import write_agent, write_tests
from http_server import Request, Server
from judging import vote

TEAM = "team"
SLOTS = 4
PRICE_USD_PER_MILLION = 10.0
TOKENS = 1100
QUESTION_USD = TOKENS * PRICE_USD_PER_MILLION / 1e6
JUDGE = "gpt-4o-mini"
VOTE_USD = (1000 * 0.15 + 100 * 0.6) / 1e6
"""By the price list, for 1,000 tokens in and 100 out."""


class Models(Server):
    """Answers prompts in capitals and votes for every answer; 1,000 tokens in and 100 out."""

    def __init__(self) -> None:
        super().__init__()
        self.do(self._answer)
        self.questions = 0
        self.votes = 0
        self.asked = asyncio.Condition()
        self.until: float | None = None
        """The moment before which no call is answered."""
        self.usage: dict[str, int] | None = {"prompt_tokens": 1000, "completion_tokens": 100}

    @property
    def spent_usd(self) -> float:
        return self.questions * QUESTION_USD + self.votes * VOTE_USD

    @property
    def tokens(self) -> int:
        return (self.questions + self.votes) * TOKENS

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        is_judge = request.path.startswith("/judge")
        async with self.asked:
            self.questions += not is_judge
            self.votes += is_judge
            self.asked.notify_all()
        while self.until is not None and time.monotonic() < self.until:
            await asyncio.sleep(0.01)
        text = request.json["messages"][-1]["content"].upper()
        if is_judge:
            text = json.dumps(vote(90, quote=""))
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        body: dict[str, object] = {"model": request.json["model"], "choices": [choice]}
        if self.usage is not None:
            body["usage"] = self.usage
        raw = json.dumps(body).encode()
        head = f"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {len(raw)}\r\n\r\n"
        writer.write(head.encode() + raw)
        await writer.drain()

    async def wait_for(self, questions: int) -> None:
        async with self.asked:
            await self.asked.wait_for(lambda: self.questions >= questions)


@pytest.fixture
def dialect() -> str:
    """The database does not matter here."""
    return "sqlite"


@pytest.fixture
async def models() -> AsyncIterator[Models]:
    server = Models()
    await server.start()
    yield server
    await server.stop()


JUDGED: dict[str, Any] = {
    "validation": "judge_prompt",
    "expected": {"prompt": "Is it good?", "criteria": ["quality"]},
    "case_sensitive": None,
    "pass_score": 50,
}


def prepare(home: Path, models: Models, *, tests: int = 40, **keys: object) -> None:
    """The agent `chat`, with a price of its own, and its tests."""
    price = {
        "input_usd_per_million": PRICE_USD_PER_MILLION,
        "output_usd_per_million": PRICE_USD_PER_MILLION,
    }
    connector = {"type": "openai", "base_url": f"{models.url}/agent/v1", "model": "own"}
    agent = {
        "id": "chat",
        "connector": connector | {"price": price},
        "limits": {"max_concurrency": SLOTS},
    }
    (home / "agents").mkdir(parents=True, exist_ok=True)
    (home / "agents" / "chat.yaml").write_text(yaml.safe_dump(agent))
    write_tests(home / "benchmarks" / "chat.yaml", count=tests, agents=["chat"], **keys)


@pytest.fixture
async def judged_house(settings: Settings, models: Models) -> AsyncIterator[Arena]:
    """An Arena whose judge is the scripted server, and the tests that it judges."""
    prepare(settings.home, models, **JUDGED)
    changes = {"judge_base_url": f"{models.url}/judge/v1", "judge_models": (JUDGE,)}
    async with open_house(settings.model_copy(update=changes)) as opened:
        yield opened


@pytest.fixture
async def plain_house(settings: Settings, models: Models) -> AsyncIterator[Arena]:
    """An Arena with tests that need no judge."""
    prepare(settings.home, models)
    async with open_house(settings) as opened:
        yield opened


async def execute(house: Arena, agent: str = "chat", **limits: Any) -> Run:
    request = RunRequest(team_id=TEAM, agent_id=agent, budget=Budget(**limits))
    run = await house.executor.create(request)
    await house.executor.start(run.id, TEAM)
    return await house.executor.wait(run.id)


async def resume(house: Arena, run: Run, **limits: Any) -> Run:
    await house.executor.resume(run.id, TEAM, Budget(**limits))
    return await house.executor.wait(run.id)


def check_sums(run: Run, models: Models) -> None:
    """The run has counted exactly what the server was paid for."""
    assert run.spent is not None
    assert run.spent.cost_usd == pytest.approx(models.spent_usd)
    assert run.spent.tokens == models.tokens


@pytest.mark.parametrize("number", range(1, 11))
async def test_a_run_exceeds_its_budget_by_at_most_one_question_per_slot(
    judged_house: Arena, models: Models, number: int
):
    """Ten runs, with limits on money and tokens in turn, each resumed once."""
    name, column, step, question = "max_cost_usd", "cost_usd", 0.0137, QUESTION_USD + VOTE_USD
    if number % 2:
        name, column, step, question = "max_tokens", "tokens", 2_750, 2 * TOKENS
    limit = step * number
    run = await execute(judged_house, **{name: limit})
    for _ in range(2):
        assert run.status == "budget_exceeded"
        assert f"({name.removesuffix('_usd')})" in str(run.error_message)
        check_sums(run, models)
        assert run.spent is not None
        assert limit <= getattr(run.spent, column) < limit + SLOTS * question
        assert run.completed_tests == models.votes
        assert run.errored_tests == run.total_tests - run.completed_tests > 0
        assert run.failed_tests == 0
        limit = getattr(run.spent, column) + step * number
        run = await resume(judged_house, run, **{name: limit})
    done = await resume(judged_house, run, max_cost_usd=9, max_tokens=10**9)
    assert (done.status, done.passed_tests, done.error_message) == ("completed", 40, None)
    check_sums(done, models)


class Clock:
    """The time that a budget sees; the test decides when it passes."""

    seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds


async def test_time_is_limited_too_and_what_was_asked_is_recorded(
    plain_house: Arena, models: Models, monkeypatch: pytest.MonkeyPatch
):
    clock = Clock()
    monkeypatch.setattr("arena.models.budget.time", clock)
    models.until = math.inf
    executing = asyncio.create_task(execute(plain_house, max_minutes=1))
    await models.wait_for(SLOTS)
    clock.seconds, models.until = 61.0, None
    run = await executing
    assert run.status == "budget_exceeded"
    assert "minutes passed (max_minutes)" in str(run.error_message)
    assert run.completed_tests == models.questions == SLOTS
    with pytest.raises(Conflict, match="--max-minutes N"):
        await plain_house.executor.resume(run.id, TEAM)
    models.until = None
    done = await resume(plain_house, run, max_minutes=10)
    assert (done.status, done.completed_tests) == ("completed", 40)
    assert done.spent is not None and run.spent is not None
    assert done.spent.seconds >= run.spent.seconds > 0.1


async def test_an_answer_whose_judging_is_refused_stays_pending(
    judged_house: Arena, models: Models
):
    run = await execute(judged_house, max_cost_usd=QUESTION_USD / 2)
    assert run.status == "budget_exceeded"
    assert 1 <= models.questions <= SLOTS
    assert (models.votes, run.completed_tests) == (0, 0)
    assert not await judged_house.runs.errors(run.id)
    check_sums(run, models)


async def test_votes_that_are_cached_cost_nothing(judged_house: Arena, models: Models):
    first = await execute(judged_house, max_cost_usd=9)
    votes, spent = models.votes, models.spent_usd
    again = await execute(judged_house, max_cost_usd=9)
    assert first.status == again.status == "completed"
    assert models.votes == votes
    assert again.spent is not None
    assert again.spent.cost_usd == pytest.approx(models.spent_usd - spent)


async def test_a_budget_that_suffices_to_the_last_test_completes_the_run(
    plain_house: Arena, models: Models
):
    run = await execute(plain_house, max_cost_usd=40 * QUESTION_USD)
    assert (run.status, run.completed_tests) == ("completed", 40)
    assert run.budget == Budget(max_cost_usd=40 * QUESTION_USD, allow_unknown_prices=False)


async def test_a_run_without_a_budget_counts_nothing_and_can_get_one_when_it_is_resumed(
    plain_house: Arena, models: Models
):
    request = RunRequest(team_id=TEAM, agent_id="chat")
    run = await plain_house.executor.create(request)
    models.until = time.monotonic() + 60
    await plain_house.executor.start(run.id, TEAM)
    await models.wait_for(SLOTS)
    await plain_house.executor.close()
    run = await plain_house.runs.get(run.id, TEAM)
    assert (run.status, run.budget, run.spent) == ("running", None, None)
    models.until, asked = None, models.questions
    ended = await resume(plain_house, run, max_cost_usd=1.5 * QUESTION_USD)
    assert ended.status == "budget_exceeded"
    assert models.questions - asked <= 2 + SLOTS


async def test_it_never_counts_for_the_board_and_says_how_it_ended(
    plain_house: Arena, models: Models
):
    run = await execute(plain_house, max_tokens=5 * TOKENS)
    assert run.is_full
    assert (run.status, run.score_percent) == ("budget_exceeded", None)
    board = await plain_house.scores.leaderboard(TEAM)
    assert (board.suite, board.ranked) == (None, 0)


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
async def test_a_spent_budget_is_not_resumed(plain_house: Arena, models: Models):
    run = await execute(plain_house, max_tokens=5 * TOKENS)
    asked = models.questions
    for limits in ({}, {"max_tokens": 5 * TOKENS}, {"max_cost_usd": 1.0}):
        with pytest.raises(Conflict, match=r"resume it with a larger one: .* --max-tokens N"):
            await resume(plain_house, run, **limits)
    assert models.questions == asked
    assert (await plain_house.runs.get(run.id, TEAM)).status == "budget_exceeded"


async def test_a_run_that_is_resumed_by_itself_ends_again_without_a_question(
    plain_house: Arena, models: Models
):
    """As a server does at its start with a run that was killed after it had spent its budget."""
    run = await execute(plain_house, max_tokens=5 * TOKENS)
    asked = models.questions
    agent = plain_house.registry.find(run.agent_id)
    await plain_house.executor.dispatch.resume(run, agent, None)
    again = await plain_house.executor.wait(run.id)
    assert (again.status, again.completed_tests) == ("budget_exceeded", run.completed_tests)
    assert models.questions == asked


async def test_models_of_unknown_price_are_refused_unless_allowed(
    settings: Settings, models: Models
):
    prepare(settings.home, models, tests=3, **JUDGED)
    changes = {"judge_base_url": f"{models.url}/judge/v1", "judge_models": ("nobody-knows",)}
    async with open_house(settings.model_copy(update=changes)) as house:
        with pytest.raises(InvalidInput, match="the price of nobody-knows is not known"):
            await execute(house, max_cost_usd=1)
        assert models.questions == 0
        allowed = await execute(house, max_cost_usd=1, allow_unknown_prices=True)
        assert allowed.status == "completed"
        assert allowed.environment is not None
        assert allowed.environment["unpriced_models"] == ["nobody-knows"]
        assert (await execute(house, max_tokens=10**6)).status == "completed"


async def test_a_chat_agent_of_unknown_price_is_refused(settings: Settings, models: Models):
    prepare(settings.home, models, tests=1)
    file = settings.home / "agents" / "chat.yaml"
    agent = yaml.safe_load(file.read_text())
    del agent["connector"]["price"]
    file.write_text(yaml.safe_dump(agent))
    async with open_house(settings) as house:
        with pytest.raises(InvalidInput, match="the price of own is not known"):
            await execute(house, max_cost_usd=1)


async def test_an_endpoint_that_reports_no_usage_ends_the_run(plain_house: Arena, models: Models):
    models.usage = None
    run = await execute(plain_house, max_cost_usd=1)
    assert run.status == "budget_exceeded"
    assert "an answer of own has no known cost" in str(run.error_message)
    assert run.completed_tests == models.questions <= SLOTS
    done = await resume(plain_house, run, allow_unknown_prices=True)
    assert (done.status, done.completed_tests) == ("completed", 40)


async def test_other_agents_count_what_they_report(settings: Settings):
    usage = {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.25}
    body = f"return {{'output': prompt.upper(), 'usage': {usage}}}"
    write_agent(settings.home / "agents", "teller", body)
    write_agent(settings.home / "agents", "silent", "return prompt.upper()")
    write_tests(settings.home / "benchmarks" / "t.yaml", count=9, agents=["teller", "silent"])
    async with open_house(settings) as house:
        run = await execute(house, "teller", max_cost_usd=1)
        assert run.status == "budget_exceeded"
        assert run.spent is not None
        assert run.spent.cost_usd == 0.25 * run.completed_tests >= 1
        silent = await execute(house, "silent", max_cost_usd=1)
        assert silent.status == "budget_exceeded"
        assert "an answer has no known cost, so max_cost cannot be kept" in str(
            silent.error_message
        )
        assert (await execute(house, "silent", max_minutes=10)).status == "completed"


async def test_a_blank_answer_is_paid_for_too(settings: Settings):
    usage = {"input_tokens": 10, "output_tokens": 0, "cost_usd": 0.25}
    write_agent(settings.home / "agents", "mute", f"return {{'output': ' ', 'usage': {usage}}}")
    write_tests(settings.home / "benchmarks" / "t.yaml", count=9, agents=["mute"])
    async with open_house(settings) as house:
        run = await execute(house, "mute", max_cost_usd=1)
        assert run.status == "budget_exceeded"
        assert run.spent is not None
        assert run.spent.cost_usd == 0.25 * run.failed_tests >= 1


async def test_the_judge_of_a_simulated_user_needs_a_price(settings: Settings, models: Models):
    user = {"goal": "Hear hello."}
    prepare(settings.home, models, tests=1, user=user)
    changes = {
        "judge_base_url": f"{models.url}/judge/v1",
        "judge_models": ("nobody-knows",),
        "user_base_url": f"{models.url}/user/v1",
        "user_model": JUDGE,
    }
    for is_judged in (False, True):
        found = settings.model_copy(update=changes | {"user_judged": is_judged})
        async with open_house(found) as house:
            request = RunRequest(team_id=TEAM, agent_id="chat", budget=Budget(max_cost_usd=1))
            if not is_judged:
                assert await house.executor.create(request)
                continue
            with pytest.raises(InvalidInput, match="the price of nobody-knows is not known"):
                await house.executor.create(request)


async def test_the_api_takes_a_budget_and_resumes_with_a_larger_one(
    settings: Settings, models: Models
):
    prepare(settings.home, models, tests=6)
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        transport = AppTransport(app)
        async with Client("http://localhost", team_id=TEAM, transport=transport) as client:
            created = await client.create_run("chat", max_tokens=2 * TOKENS, concurrency=1)
            ended = await client.execute_run(created.run_id)
            assert (ended.status, ended.passed) == ("budget_exceeded", 2)
            assert str(ended.error_message).endswith("tokens used (max_tokens)")
            with pytest.raises(Conflict, match="has spent its budget"):
                await client.resume_run(created.run_id)
            (listed,) = (await client.runs(status=RunStatus.BUDGET_EXCEEDED)).runs
            assert listed.spent is not None
            assert (listed.spent.tokens, listed.budget) == (
                2 * TOKENS,
                Budget(max_tokens=2 * TOKENS, allow_unknown_prices=False),
            )
            done = await client.resume_run(created.run_id, max_tokens=10**6)
            assert (done.status, done.passed) == ("completed", 6)


async def command(home: Path, models: Models, *words: str) -> asyncio.subprocess.Process:
    settings = {
        "ARENA_HOME": str(home),
        "ARENA_JUDGE_BASE_URL": f"{models.url}/judge/v1",
        "ARENA_JUDGE_MODELS": JUDGE,
        "ARENA_TEAM": TEAM,
    }
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "arena", *words),
        env={**os.environ, **settings},
        stdout=pipe,
        stderr=pipe,
    )


async def test_a_killed_run_continues_from_what_it_had_spent(tmp_path: Path, models: Models):
    home = tmp_path / "home"
    prepare(home, models, **JUDGED)
    limit = 25 * (QUESTION_USD + VOTE_USD)
    running = await command(home, models, "run", "chat", "--max-cost", str(limit))
    kills = 0
    for questions in (6, 12):
        await models.wait_for(questions)
        running.send_signal(signal.SIGKILL)
        await running.communicate()
        kills += 1
        running = await command(home, models, "runs", "resume", "latest", "--json")
    out, err = await running.communicate()
    assert running.returncode == 3, err.decode()
    run = json.loads(out)["run"]
    assert run["status"] == "budget_exceeded"
    # What was in flight when it was killed is lost: at most one question per slot and kill.
    in_flight = SLOTS * (QUESTION_USD + VOTE_USD)
    assert models.spent_usd < limit + (kills + 1) * in_flight
    assert run["spent"]["cost_usd"] <= models.spent_usd + 1e-9
    assert run["spent"]["cost_usd"] >= limit
    refused = await command(home, models, "runs", "resume", run["id"])
    _, err = await refused.communicate()
    assert (refused.returncode, b"has spent its budget: $" in err) == (2, True), err.decode()
    done = await command(home, models, "runs", "resume", run["id"], "--max-cost", "9", "--json")
    out, err = await done.communicate()
    assert done.returncode == 0, err.decode()
    ended = json.loads(out)["run"]
    assert (ended["status"], ended["passed_tests"]) == ("completed", 40)


async def test_models_without_a_known_price_are_announced_before_the_start(
    tmp_path: Path, models: Models
):
    prepare(tmp_path, models, tests=1, **JUDGED)
    file = tmp_path / "agents" / "chat.yaml"
    agent = yaml.safe_load(file.read_text())
    del agent["connector"]["price"]
    file.write_text(yaml.safe_dump(agent))
    write_agent(tmp_path / "agents", "plain", "return prompt.upper()")
    write_tests(tmp_path / "benchmarks" / "plain.yaml", count=1, agents=["plain"])
    announced = "no known price, so the cost is not counted: own\n"
    running = await command(tmp_path, models, "run", "chat", "--json")
    out, err = await running.communicate()
    assert (running.returncode, err.decode()) == (0, announced)
    assert json.loads(out)["run"]["environment"]["unpriced_models"] == ["own"]
    refused = await command(tmp_path, models, "run", "chat", "--max-cost", "1")
    _, err = await refused.communicate()
    assert refused.returncode == 2
    assert b"the price of own is not known, so max_cost cannot be kept" in err
    plain = await command(tmp_path, models, "run", "plain")
    _, err = await plain.communicate()
    assert (plain.returncode, err) == (0, b"")
