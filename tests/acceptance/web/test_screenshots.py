"""The pictures of the README: `make screenshots` writes them with the bundled agents."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from acceptance.conftest import Shell
from acceptance.web.conftest import Look, Visit

FOLDER = os.environ.get("ARENA_TEST_SCREENSHOTS")
AGENTS = ("qa-web-manager", "qa-mobile-manager", "monitoring-manager", "ai-assistant")
RATINGS = {"qa-web-manager": (5, 5, 4), "qa-mobile-manager": (4, 4), "ai-assistant": (3, 4)}

pytestmark = pytest.mark.skipif(FOLDER is None, reason="pictures are made by: make screenshots")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A server as `make demo` leaves it."""
    with Shell(home=tmp_path_factory.mktemp("demo")).serving() as client:
        for agent in AGENTS:
            run = client.post("/api/benchmarks/run", json={"agent_id": agent}).json()
            client.post(f"/api/benchmarks/run/{run['run_id']}/execute")
        for agent, stars in RATINGS.items():
            for user, rating in enumerate(stars):
                vote = {"agent_id": agent, "rating": rating, "user_id": f"user {user}"}
                client.post("/api/benchmarks/feedback", json=vote)
        yield client


@pytest.mark.parametrize(
    ("name", "scheme"), [("agents", "light"), ("leaderboard", "light"), ("run", "dark")]
)
def test_a_picture_is_taken(
    visit_as: Callable[..., Visit], demo: httpx2.Client, name: str, scheme: str
):
    visit = visit_as(Look(size="desk", scheme=scheme), str(demo.base_url).rstrip("/"))
    visit.page.set_viewport_size({"width": 1180, "height": 760})
    filters = {"agent_id": "qa-web-manager", "limit": 1}
    run = demo.get("/api/benchmarks/runs", params=filters).json()["runs"][0]["id"]
    paths = {"agents": "", "leaderboard": "/leaderboard", "run": f"/runs/{run}"}
    page = visit.go(paths[name])
    page.get_by_role("status").filter(has_text="Live").wait_for()
    assert FOLDER is not None
    picture = Path(FOLDER) / f"{name}.png"
    page.screenshot(path=picture)
    assert picture.stat().st_size < 300_000
