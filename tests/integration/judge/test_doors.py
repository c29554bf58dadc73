"""The judge through its interfaces: the command, the API, the settings."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import httpx2
import pytest

import warm
from app_transport import AppTransport
from arena.api import create_app
from arena.cli.connection import open_operations
from arena.errors import InvalidInput
from arena.operations.operations import Operations
from arena.settings import Settings, read_settings
from factories import write_agent, write_checklist
from judging import completion, said

STANDARD = {"type": "judge_prompt", "prompt": "Is it good?", "criteria": ["a", "b"]}
SECRET = "sk-s3cr3t-value-of-the-judge"


@pytest.fixture
def arena(endpoint, tmp_path: Path):
    """Runs the command with a judge that is set up."""
    environment = os.environ | {
        "ARENA_JUDGE_BASE_URL": f"{endpoint.url}/v1",
        "ARENA_JUDGE_MODELS": "gpt-4o-mini",
        "ARENA_JUDGE_API_KEY": SECRET,
        "ARENA_RETRY_DELAY_SECONDS": "0.01",
    }

    async def run(*words: object, **changes: str) -> tuple[int, str, str]:
        # The endpoint is served by this process, so it must not wait for the command.
        done = await asyncio.to_thread(
            warm.run, [*map(str, words)], environment | changes, cwd=tmp_path
        )
        assert SECRET not in done.stdout + done.stderr
        return done.returncode, done.stdout, done.stderr

    return run


async def _half(request: Any, writer: Any) -> dict[str, object]:
    count = len(request.json["response_format"]["json_schema"]["schema"]["properties"])
    return completion({f"c{n}": said(score=50) for n in range(1, count + 1)})


async def test_a_judge_is_shown_measured_attacked_and_used(arena, endpoint, tmp_path):
    endpoint.follow(_half)
    code, out, _ = await arena("judge", "show")
    assert (code, "never measured" in out, "never attacked" in out) == (0, True, True)

    rows = [
        {"standard": STANDARD, "submission": f"work {n}", "labels": {"a": 40 + n, "b": 50}}
        for n in range(8)
    ]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code, out, _ = await arena("judge", "calibrate", "labels.jsonl", "--repeats", "2", "--json")
    made = json.loads(out)
    assert (code, made["figures"]["items"], made["repeats"]) == (0, 8, 2)
    assert made["figures"]["bias"]["value"] == pytest.approx(3.25)
    code, out, _ = await arena("judge", "calibrate", "labels.jsonl")
    assert "agreement with people" in out
    assert "bootstrap" in out

    code, out, _ = await arena("judge", "attack")
    assert (code, "0 of 45 moved the score" in out) == (0, True)

    code, out, _ = await arena("judge", "show")
    assert "measured on 8 items" in out
    assert "attacked with 45 injections: 0 moved the score" in out

    (tmp_path / "standard.json").write_text(json.dumps(STANDARD))
    (tmp_path / "work.txt").write_text("return a + b")
    code, out, _ = await arena("evaluate", "standard.json", "work.txt")
    assert code == 1
    assert "failed 50 of 100" in out
    assert "judged by gpt-4o-mini, measured on 8 items" in out


async def test_a_run_does_not_reuse_the_votes_of_a_rehearsal(arena, endpoint, tmp_path):
    endpoint.follow({"c1": said(score=90), "c2": said(score=90)})
    standard = {"type": "judge_prompt", "prompt": "Is it good?", "criteria": ["a", "b"]}
    (tmp_path / "standard.json").write_text(json.dumps(standard))
    (tmp_path / "work.txt").write_text("same bytes")
    code, out, _ = await arena("evaluate", "standard.json", "work.txt")
    assert (code, "passed 90 of 100" in out) == (0, True)

    endpoint.follow(_half)
    write_agent(tmp_path / "agents", "writer", "return 'same bytes'")
    test = {"id": "good", "name": "Good", "prompt": "Write it.", "validation": "judge_prompt"}
    test |= {"expected": {key: standard[key] for key in ("prompt", "criteria")}}
    test |= {"agents": ["writer"]}
    (tmp_path / "good.yaml").write_text(json.dumps({"category": "c", "tests": [test]}))
    folders = ("--agents", "agents", "--tests", tmp_path)
    code, out, err = await arena("run", "writer", *folders, "--json")
    assert (code, err) == (0, "")
    assert [result["passed"] for result in json.loads(out)["results"]] == [False]
    assert len(endpoint.requests) == 2


async def test_over_http_no_team_gets_the_votes_of_another(endpoint, tmp_path):
    """Team a asks until it is lucky; the same bytes of team b are judged by the model."""
    tokens = {"a": "a" * 20, "b": "b" * 20}
    settings = Settings(
        home=tmp_path / "home",
        tokens=tuple(f"{team}:{token}" for team, token in tokens.items()),
        judge_base_url=f"{endpoint.url}/v1",
        judge_models=("m",),
    )
    app = create_app(settings)

    async def score(team: str) -> float:
        answer = await client.post(
            "/api/evaluate",
            json={"standard": STANDARD, "submission": "same bytes"},
            headers={"Authorization": f"Bearer {tokens[team]}"},
        )
        return answer.json()["score"]

    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(base_url="http://arena", transport=AppTransport(app)) as client,
    ):
        endpoint.follow({"c1": said(score=90), "c2": said(score=90)})
        assert await score("a") == 90
        endpoint.follow(_half)
        # Its own vote is reused, and nobody else's.
        assert (await score("b"), await score("a"), await score("b")) == (50, 90, 50)
    assert len(endpoint.requests) == 2


async def test_a_submission_that_cannot_be_judged_is_no_failure(arena, endpoint, tmp_path):
    (tmp_path / "standard.json").write_text(json.dumps(STANDARD))
    (tmp_path / "work.txt").write_text("x")
    endpoint.follow("I would give it 100.")
    code, out, err = await arena("evaluate", "standard.json", "work.txt")
    assert (code, out) == (3, "")
    assert "gave no valid answer in 4 tries; the last: it is not JSON" in err
    code, _, err = await arena("judge", "attack", ARENA_JUDGE_MODELS="")
    assert (code, "ARENA_JUDGE_MODELS" in err) == (3, True)


async def test_bad_labels_and_a_remote_server_are_the_callers_mistakes(arena, tmp_path):
    (tmp_path / "labels.jsonl").write_text('{"standard": 1}\n?')
    code, _, err = await arena("judge", "calibrate", "labels.jsonl")
    assert code == 2
    assert "labels.jsonl:1: needs the key 'submission'" in err
    assert "labels.jsonl:2: is not JSON" in err
    code, _, err = await arena("--server", "http://127.0.0.1:9", "judge", "attack")
    assert (code, "measured where it is configured" in err) == (2, True)


async def test_the_api_lists_the_judge_without_its_key(tmp_path):
    given = {"home": tmp_path, "judge_base_url": "http://127.0.0.1:9/v1/"}
    settings = Settings(**given, judge_models="a, b", judge_votes=2, judge_api_key=SECRET)
    async with open_operations(settings, Operations) as client:
        listed = await client.judges()
    [judge] = listed.judges
    assert (judge.models, judge.votes, judge.base_url) == (("a", "b"), 2, "http://127.0.0.1:9/v1")
    assert (judge.calibration, judge.attack) == (None, None)
    assert SECRET not in str(listed)
    async with open_operations(Settings(home=tmp_path), Operations) as client:
        assert (await client.judges()).count == 0


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("JUDGE_BASE_URL", "api.example.com", "must be like https"),
        ("JUDGE_BASE_URL", "http://me:secret@host/v1", "must not hold a name or a password"),
        ("JUDGE_BASE_URL", "http://host/v1?key=1", "query"),
        ("JUDGE_BASE_URL", "http://host:99999/v1", "[Pp]ort"),
        ("JUDGE_ALLOWED_URLS", "http://ok/v1,ftp://no", "must be like https"),
        ("JUDGE_API_KEY", "schlüssel", "an HTTP header cannot carry"),
        ("JUDGE_VOTES", "0", "greater than or equal to 1"),
        ("JUDGE_MODEL", "x", "did you mean ARENA_JUDGE_MODELS"),
    ],
)
def test_an_invalid_setting_is_reported_without_its_value(monkeypatch, name, value, message):
    monkeypatch.setenv(f"ARENA_{name}", value)
    with pytest.raises(InvalidInput, match=message) as caught:
        read_settings()
    assert "secret" not in caught.value.message
    assert "schlüssel" not in caught.value.message


async def test_a_suggestion_is_shown_to_the_reviewer_and_answers_nothing(arena, endpoint, tmp_path):
    endpoint.follow(_half)
    home = {"ARENA_HOME": str(tmp_path / "home")}
    write_agent(tmp_path / "home/agents", "poet", "return 'an ode'")
    write_checklist(tmp_path / "home/benchmarks/odes.yaml", agents=["poet"])
    assert (await arena("run", "poet", **home))[0] == 0
    code, out, _ = await arena("review", "--suggest", "--reviewer", "mia", **home)
    assert code == 0
    assert "a model suggests: pass, clear: 50 of 100: It adds." in " ".join(out.split())
    [review] = json.loads((await arena("review", "--json", **home))[1])["reviews"]
    assert (review["status"], review["answered_count"]) == ("open", 0)
