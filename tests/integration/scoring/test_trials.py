"""Repeats: pass@k, pass^k and flaky tests."""

import httpx2
import pytest

from arena.assembly import Arena
from histories import a_run, drive

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_run_with_repeats_shows_pass_at_k_and_pass_to_the_k(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    (run_id,) = await drive(house, era, [a_run("a", "+++ ++- --- +--")])
    details = (await api.get(f"/runs/{run_id}")).json()
    trials = details["trials"]
    assert (trials["k"], trials["flaky"]) == (3, ["t1", "t3"])
    assert (trials["pass_at_k"], trials["pass_all_k"]) == (0.75, 0.25)
    assert [
        (t["passed"], t["trials"], t["pass_at_k"], t["pass_all_k"]) for t in trials["tests"]
    ] == [
        (3, 3, 1.0, 1.0),
        (2, 3, 1.0, 0.0),
        (0, 3, 0.0, 0.0),
        (1, 3, 1.0, 0.0),
    ]
    per_result = {(r["test_id"], r["pass_at_k"], r["pass_all_k"]) for r in details["results"]}
    assert per_result == {("t0", 1, 1), ("t1", 1, 0), ("t2", 0, 0), ("t3", 1, 0)}
    # 6 of 12 trials: the score is the share of all trials that passed.
    assert details["run"]["score_percent"] == 50.0


async def test_k_is_what_every_test_has(house: Arena, api: httpx2.AsyncClient, era: str):
    (run_id,) = await drive(house, era, [a_run("a", "+- ++-")])
    trials = (await api.get(f"/runs/{run_id}")).json()["trials"]
    assert trials["k"] == 2
    # Of three trials with two passes every pair holds one; one pair of three holds two.
    assert trials["tests"][1]["pass_at_k"] == 1.0
    assert trials["tests"][1]["pass_all_k"] == pytest.approx(1 / 3)


async def test_a_run_without_repeats_has_no_trials(house: Arena, api: httpx2.AsyncClient, era: str):
    (run_id,) = await drive(house, era, [a_run("a", "+-")])
    details = (await api.get(f"/runs/{run_id}")).json()
    assert details["trials"] is None
    assert {result["pass_at_k"] for result in details["results"]} == {None}


async def test_each_trial_asks_the_agent_again(api: httpx2.AsyncClient):
    body = {"agent_id": "moody", "trials": 3}
    run_id = (await api.post("/run", json=body)).json()["run_id"]
    done = (await api.post(f"/run/{run_id}/execute")).json()
    assert (done["total_tests"], done["status"]) == (15, "completed")
    trials = (await api.get(f"/runs/{run_id}")).json()["trials"]
    # It answers every other time: a single answer that was kept would pass always or never.
    assert len(trials["flaky"]) == 5
    assert (trials["pass_at_k"], trials["pass_all_k"]) == (1.0, 0.0)
