"""Judging over HTTP: every request gets a verdict or an error that says why not."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from arena.evaluation.sealed import SealedFolder, commitment_of, seal, write_private_part

HALF = "\ud800"
EXACT = {"type": "exact", "value": "a"}
CASE = {"input": [], "expected": 1}
CODE = "def f(*_): return 1"


def cases(**changes: object) -> dict[str, object]:
    return {"type": "test_cases", "functionName": "f", "cases": [CASE | changes]}


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


async def judged(client: httpx2.AsyncClient, standard: object, submission: str) -> httpx2.Response:
    # json.dumps spells half of a surrogate pair as an escape, as any client may.
    body: Any = {"standard": standard, "submission": submission, "record": False}
    kind = {"Content-Type": "application/json"}
    return await client.post("/api/evaluate", content=json.dumps(body), headers=kind)


@pytest.mark.parametrize(
    ("standard", "submission", "message"),
    [
        (EXACT, HALF, "submission: is not valid Unicode"),
        ({"type": "exact", "value": f"a{HALF}"}, "a", "value: is not valid Unicode"),
        ({**EXACT, HALF: 1}, "a", "is not valid Unicode"),
        (cases(desc=HALF), CODE, "cases[0].desc: is not valid Unicode"),
        (cases(expected={HALF: 1}), CODE, "cases[0].expected: JSON has text keys only"),
        (
            {"type": "json_schema", "schema": {"const": HALF}},
            "1",
            "schema.const: is not valid",
        ),
    ],
)
async def test_half_of_a_surrogate_pair_is_the_senders_mistake(
    local: httpx2.AsyncClient, standard: object, submission: str, message: str
):
    answer = await judged(local, standard, submission)
    assert answer.status_code == 422
    assert message in answer.json()["detail"]


@pytest.mark.parametrize("depth", [240, 300, 600, 900])
@pytest.mark.parametrize("key", ["input", "expected"])
async def test_a_case_nested_too_deep_is_the_senders_mistake(
    local: httpx2.AsyncClient, depth: int, key: str
):
    answer = await judged(local, cases(**{key: [nested(depth)]}), CODE)
    assert answer.status_code == 422
    assert f"cases[0].{key}: is nested more than 200 deep" in answer.json()["detail"]


async def test_a_case_may_nest_as_deep_as_what_a_function_returns(local: httpx2.AsyncClient):
    deep = [nested(199)]
    answer = await judged(local, cases(input=deep, expected=deep[0]), "def f(x): return x")
    assert answer.json()["passed"], answer.text


@pytest.mark.parametrize(
    ("standard", "submission"),
    [
        (cases(), "def f(): return chr(0xd800)"),
        (cases(), "def f(): raise ValueError(chr(0xd800))"),
        (cases(), "def f(): return {chr(0xd800): 1}"),
        (
            {"type": "json_schema", "schema": {"additionalProperties": {"type": "string"}}},
            r'{"\ud800": 1}',
        ),
    ],
)
async def test_a_submission_cannot_crash_its_verdict(
    local: httpx2.AsyncClient, standard: object, submission: str
):
    answer = await judged(local, standard, submission)
    assert answer.status_code == 200, answer.text
    assert (answer.json()["score"], answer.json()["passed"]) == (0, False)


async def test_no_team_gets_the_hidden_cases_that_the_server_keeps(opened, tmp_path: Path):
    token = "r" * 32
    hidden = {"input": [2], "expected": 1, "hidden": True}
    public, openings = seal({**cases(), "cases": [CASE, hidden]})
    folder = tmp_path / "home" / "sealed"
    folder.mkdir(parents=True)
    commitments = [commitment_of(opening) for opening in openings]
    private = write_private_part(openings)
    SealedFolder(folder).path(commitments).write_bytes(private)
    async with opened(tokens=(f"red:{token}",)) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        refused = await judged(client, public, "x")
        assert refused.status_code == 403
        assert openings[0].salt not in refused.text
        body = {"standard": public, "submission": CODE, "sealed": json.loads(private)}
        verdict = (await client.post("/api/evaluate", json=body)).json()
        assert (verdict["score"], verdict["openings"][0]["salt"]) == (100, openings[0].salt)
    async with opened() as client:  # without tokens the caller owns the home
        assert (await judged(client, public, CODE)).json()["score"] == 100
