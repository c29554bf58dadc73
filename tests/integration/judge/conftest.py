"""A real judge, and an endpoint on loopback that follows a script."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from arena.evaluation.judge.judge import ModelJudge
from arena.settings import Settings
from judging import MODEL, Endpoint, vote


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    endpoint = Endpoint()
    await endpoint.start()
    endpoint.follow(vote(70, 80, 90))
    yield endpoint
    await endpoint.stop()


@pytest.fixture
async def judge_with(
    endpoint: Endpoint, tmp_path: Path
) -> AsyncIterator[Callable[..., ModelJudge]]:
    """Makes judges that call the endpoint."""
    made: list[ModelJudge] = []

    def make(**given: object) -> ModelJudge:
        settings: dict[str, object] = {
            "home": tmp_path / "home",
            "judge_base_url": f"{endpoint.url}/v1",
            "judge_models": (MODEL,),
            "retry_delay_seconds": 0.01,
        }
        judge = ModelJudge(Settings(**settings | given))
        made.append(judge)
        return judge

    yield make
    for judge in made:
        await judge.aclose()


@pytest.fixture
def judge(judge_with: Callable[..., ModelJudge]) -> ModelJudge:
    return judge_with()
