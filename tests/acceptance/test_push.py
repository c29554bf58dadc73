"""A run of one home is pushed to a shared server, as a CI job does it."""

import dataclasses
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import warm
from factories import write_agent, write_tests

TOKEN = "aaaaaaaaaaaaaaaaaaaa"


@pytest.fixture
def job(shell: Any) -> Any:
    """A home with one completed run, and the token of a team on the server."""
    write_agent(shell.home / "agents", "parrot", "return prompt.upper().replace('3', '')")
    write_tests(shell.home / "benchmarks" / "parrot.yaml", count=3, agents=["parrot"])
    shell = dataclasses.replace(shell, variables={"ARENA_TOKEN": TOKEN})
    assert shell.arena("run", "parrot").returncode == 0
    return shell


@pytest.fixture
def server(shell: Any, tmp_path: Path) -> Iterator[httpx2.Client]:
    """A server of two teams, with the same agent and none of its tests."""
    home = tmp_path / "server"
    write_agent(home / "agents", "parrot", "return prompt.upper()")
    variables = {"ARENA_TOKENS": f"ci:{TOKEN},other:bbbbbbbbbbbbbbbbbbbb"}
    with dataclasses.replace(shell, home=home, variables=variables).serving() as client:
        yield client


def with_variables(shell: Any, **variables: str) -> Any:
    return dataclasses.replace(shell, variables={**shell.variables, **variables})


def address(client: httpx2.Client) -> str:
    return str(client.base_url).rstrip("/")


def runs_of(client: httpx2.Client, token: str = TOKEN) -> list[dict[str, object]]:
    headers = {"Authorization": f"Bearer {token}"}
    return client.get("/api/benchmarks/runs", headers=headers).json()["runs"]


def test_a_run_is_pushed_once_however_often_and_printed_on_one_line(
    job: Any, server: httpx2.Client
):
    first = job.arena("runs", "push", "latest", "--to", address(server))
    assert first.returncode == 0, first.stderr
    again = job.arena("runs", "push", "latest", "--server", address(server))
    assert again.stdout == first.stdout
    (line,) = first.stdout.splitlines()
    (run,) = runs_of(server)
    assert line.startswith(f"{address(server)}/agent-dashboard/runs/{run['id']}  ")
    assert "3 of 3 verdicts replayed" in line
    assert line.endswith("; listed as a claim, not ranked (team setting)")
    assert (run["provenance"], run["team_id"], run["passed_tests"]) == ("reported", "ci", 2)
    assert runs_of(server, "b" * 20) == []
    page = server.get(f"/agent-dashboard/runs/{run['id']}")
    assert page.status_code == 200


def test_the_server_may_be_named_by_variable_or_before_the_command(job: Any, server: httpx2.Client):
    by_option = job.json("runs", "push", "latest", "--to", address(server))
    assert by_option["url"] == f"{address(server)}{by_option['path']}"
    before = job.arena("--server", address(server), "runs", "push", "latest")
    assert by_option["url"] in before.stdout
    by_variable = with_variables(job, ARENA_SERVER=address(server)).json("runs", "push", "latest")
    assert by_variable == by_option


def test_people_see_what_was_verified_and_from_where(job: Any, server: httpx2.Client):
    pushed = job.json("runs", "push", "latest", "--to", address(server))["run"]
    shown = job.arena("--server", address(server), "runs", "show", pushed["id"])
    assert shown.returncode == 0, shown.stderr
    assert f"a claim: executed elsewhere as run {pushed['source_run_id']}" in shown.stdout
    assert "3 of 3 verdicts replayed" in shown.stdout
    here = job.arena("runs", "show", "latest").stdout
    assert "run here" in here
    assert pushed["suite_version"][:12] in here
    listed = with_variables(job, COLUMNS="250").arena("runs", "list").stdout
    assert "run here" in listed
    assert pushed["suite_version"][:12] in listed


def test_a_claim_is_marked_wherever_it_is_shown(job: Any, server: httpx2.Client):
    there = ("--server", address(server))
    pushed = job.json("runs", "push", "latest", "--to", address(server))["run"]["id"]
    assert (
        "parrot 1.0.0: reported from elsewhere, a claim" in job.arena(*there, "leaderboard").stdout
    )
    for words in (
        ("runs", "compare", pushed, pushed),
        ("runs", "compare", pushed, pushed, "--format", "markdown"),
        ("runs", "export", pushed, "--format", "markdown"),
        ("runs", "export", pushed, "--format", "junit"),
        ("baseline", "set", "main", pushed),
    ):
        assert "reported, a claim" in job.arena(*there, *words).stdout, words
    assert job.arena(*there, "suites", "reported", "--rank").returncode == 0
    again = job.arena("runs", "push", "latest", "--to", address(server))
    assert "claim" not in again.stdout
    assert (
        "parrot 1.0.0: reported from elsewhere, a claim" in job.arena(*there, "leaderboard").stdout
    )


def test_a_pushed_run_is_executed_again_on_the_server(job: Any, server: httpx2.Client):
    pushed = job.json("runs", "push", "latest", "--to", address(server))["run"]
    done = job.arena("--server", address(server), "runs", "reexecute", pushed["id"])
    assert done.returncode == 0, done.stderr
    assert f"2 of 3 results agree with run {pushed['id']}" in done.stdout
    assert "parrot_00003 (trial 1): failed then, passed now" in done.stdout
    again = job.json("--server", address(server), "runs", "reexecute", pushed["id"])
    assert (again["run"]["provenance"], again["agreement"]["agreed"]) == ("re_executed", 2)
    refused = job.arena("--server", address(server), "runs", "reexecute", "deadbeef")
    assert refused.returncode == 2


def test_a_changed_byte_is_refused_and_named(job: Any, server: httpx2.Client):
    with dataclasses.replace(job, variables={}).serving() as own:
        run_id = own.get("/api/benchmarks/runs").json()["runs"][0]["id"]
        bundle = own.get(f"/api/benchmarks/runs/{run_id}/bundle").content
    changed = bundle.replace(b"WORD1", b"WORD2", 1)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = server.post("/api/benchmarks/runs/push", content=changed, headers=headers)
    assert answer.status_code == 422
    assert "line 2: changed since the bundle was written" in answer.json()["detail"]


def test_exit_codes_are_those_of_every_command(job: Any):
    cases = [
        (("latest",), 2, "name the server"),
        (("latest", "--to", "nowhere"), 2, "must be like http"),
        (("latest", "--to", "http://127.0.0.1:9"), 3, "no response"),
        (("ffff0000", "--to", "http://127.0.0.1:9"), 2, "no run"),
    ]
    for words, code, message in cases:
        done = job.arena("runs", "push", *words)
        assert (done.returncode, message in done.stderr) == (code, True), done.stderr


def test_a_wrong_token_is_refused(job: Any, server: httpx2.Client):
    wrong = with_variables(job, ARENA_TOKEN="c" * 20)
    done = wrong.arena("runs", "push", "latest", "--to", address(server))
    assert (done.returncode, "token" in done.stderr) == (2, True)


def test_a_run_pushed_to_a_server_that_was_killed_appears_once_afterwards(job: Any, tmp_path: Path):
    shell = dataclasses.replace(job, home=tmp_path / "server", variables={})
    words = ("runs", "push", "latest", "--to")
    with (
        warm.serve(shell.environment) as running,
        warm.start((*words, running.url), job.environment) as pushing,
    ):
        running.send_signal(signal.SIGKILL)
        running.wait(timeout=60)
        assert pushing.wait(timeout=60) in (0, 3)
    with shell.serving() as client:
        for _ in range(2):
            assert job.arena(*words, address(client)).returncode == 0
        (run,) = client.get("/api/benchmarks/runs").json()["runs"]
        assert run["completed_tests"] == 3
