"""Limits on the calls of judge models: in one request, and of a team in an hour."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.cli.connection import open_operations
from arena.errors import InvalidInput
from arena.evaluation.judge.budget import JudgeBudgetSpent
from arena.evaluation.judge.judge import ModelJudge
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.verdict import Submission
from arena.operations.operations import Operations
from arena.settings import Settings
from arena.team import working_for
from judging import Endpoint, vote

STANDARD = JudgePrompt(prompt="Is it good?", criteria=("a",))
ONE: dict[str, Any] = {"type": "judge_prompt", "prompt": "Is it good?", "judge": {"models": ["m"]}}


async def test_a_request_for_too_many_votes_is_refused_before_the_first(
    endpoint: Endpoint, tmp_path: Path
):
    settings = Settings(
        home=tmp_path / "home",
        judge_base_url=f"{endpoint.url}/v1",
        judge_models=("m",),
        judge_votes=25,
    )
    standard = {"type": "all_of", "all_of": [ONE] * 20}
    async with open_operations(settings, Operations) as operations:
        with pytest.raises(InvalidInput, match="needs 500 calls of judge models, at most 100"):
            await operations.evaluate(standard=standard, submission="x", fresh=True)
    assert not endpoint.requests


async def test_a_team_has_a_budget_of_calls_and_the_others_keep_theirs(
    judge_with: Callable[..., ModelJudge], endpoint: Endpoint
):
    endpoint.follow(vote(70))
    judge = judge_with(judge_calls_per_hour=2)
    with working_for("a"):
        for text in ("one", "two"):
            await judge.judge(STANDARD, Submission(output=text))
        # A vote from the cache costs nothing.
        await judge.judge(STANDARD, Submission(output="one"))
        with pytest.raises(JudgeBudgetSpent, match="team 'a' has used its 2 judge calls"):
            await judge.judge(STANDARD, Submission(output="three"))
    with working_for("b"):
        assert (await judge.judge(STANDARD, Submission(output="three"))).score == 70


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, None),
        ({"tokens": "a:aaaaaaaaaaaaaaaaaaaa"}, 1000),
        ({"tokens": "a:aaaaaaaaaaaaaaaaaaaa", "judge_calls_per_hour": 0}, None),
        ({"judge_calls_per_hour": 7}, 7),
    ],
)
def test_the_default_budget_is_for_servers_with_tokens(
    given: dict[str, Any], expected: int | None, tmp_path: Path
):
    assert Settings(home=tmp_path, **given).judge_budget == expected


def test_a_spent_budget_is_infrastructure_and_can_be_retried():
    error = JudgeBudgetSpent("x")
    assert error.retryable
