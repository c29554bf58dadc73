"""The whole story of a paid task: from the command line alone, and through HTTP alone."""

import base64
import json
import secrets
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from acceptance_market import DESCRIPTION, SOLVER, STANDARD, ended, post, wait_for_state
from arena.client import SyncClient
from arena.errors import NotFound


def test_the_story_from_the_command_line(shell: Any, tmp_path: Path):
    (tmp_path / "solver.py").write_text(SOLVER)
    assert "test money" in shell.arena("ledger", "deposit", "alice", "1").stdout
    # 1. The poster locks a reward behind a standard.
    task = post(shell, tmp_path)
    assert task["state"] == "open"
    cid = task["evaluationCID"]
    assert json.loads(shell.arena("content", "get", cid).stdout) == STANDARD
    # 2. The agent joins, gets the task, executes it and submits the result.
    command = f"{sys.executable} solver.py"
    words = ["join", "--agent-id", "my-solver", "--exec", command, "--poll", "0.5", "--json"]
    worker = shell.start(*words, cwd=tmp_path)
    try:
        wait_for_state(shell, 1, "assigned", "submitted")
        # 3. to 8. The judge fetches by CID, evaluates and settles; the agent is notified.
        done = ended(shell, 1, lambda: shell.arena("judge", "--once", "--as", "judy"))
        assert done["task"]["state"] == "paid"
        assert done["task"]["score"] == 100
        events: list[dict[str, Any]] = []
        assert worker.stdout is not None
        while not events or events[-1]["event"] != "task_paid":
            events.append(json.loads(worker.stdout.readline()))
    finally:
        worker.terminate()
        assert worker.wait(timeout=60) == 0
        worker.stdout.close()
        worker.stderr.close()
    kinds = [event["event"] for event in events]
    assert kinds == [
        f"task_{kind}" for kind in ("applied", "assigned", "submitted", "judged", "paid")
    ]
    given = json.loads((tmp_path / "given.json").read_text())
    assert given == {"id": 1, "description": DESCRIPTION, "evaluationCID": cid, "reward": "0.05"}
    verified = shell.arena("verify", done["task"]["reasonURI"])
    assert verified.returncode == 0, verified.stdout
    balances = {
        one["account"]: one["amount"] for one in shell.json("ledger", "balance")["balances"]
    }
    assert balances == {"user:alice": "0.95", "user:my-solver": "0.05", "outside": "-1"}
    assert shell.arena("ledger", "audit").returncode == 0
    output = shell.arena("task", "show", "1").stdout
    assert "my-solver was paid 0.05 TEST (score 100)" in output


class HttpAgent:
    """An agent without Arena's code: only HTTP, JSON and an Ed25519 key."""

    def __init__(self, http: httpx2.Client, name: str) -> None:
        self.http, self.name = http, name
        self.key = Ed25519PrivateKey.generate()
        self.market = http.get("/api/market").json()["market"]

    @property
    def public_key(self) -> str:
        return base64.b64encode(self.key.public_key().public_bytes_raw()).decode()

    def proof(self, act: str, task: int | None = None, content: str = "") -> dict[str, Any]:
        nonce, expires = secrets.token_hex(8), int(time.time()) + 120
        statement = {
            "domain": "arena-market/1",
            "market": self.market,
            "act": act,
            "task": task,
            "agent": self.name,
            "content": content,
            "nonce": nonce,
            "expires_at": expires,
        }
        message = json.dumps(statement, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        signature = base64.b64encode(self.key.sign(message.encode())).decode()
        return {"nonce": nonce, "expires_at": expires, "signature": signature}


def done(answer: httpx2.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_story_through_http(shell: Any):
    with shell.serving() as http:
        agent = HttpAgent(http, "http-solver")
        done(http.post("/api/ledger/deposit", json={"account": "alice", "amount": "1"}))
        body = {"id": agent.name, "public_key": agent.public_key}
        done(
            http.post(
                "/api/market/agents",
                json={**body, "proof": agent.proof("register", None, agent.public_key)},
            )
        )
        # 1. postTask
        deadline = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        offered = {"poster": "alice", "description": DESCRIPTION, "evaluation": STANDARD}
        terms = {"reward": "0.05", "deadline": deadline, "judge": "judy"}
        task = done(http.post("/api/tasks", json={**offered, **terms}))["task_id"]
        path = f"/api/tasks/{task}"
        done(
            http.post(
                f"{path}/apply", json={"agent": agent.name, "proof": agent.proof("apply", task)}
            )
        )
        done(http.post(f"{path}/assign", json={"by": "alice", "agent": agent.name}))
        # 2. submitResult: the content first, then its hash.
        code = b"def double(n):\n    return 2 * n if n != 3 else 0\n"
        cid = done(http.post("/api/content", content=code))["cid"]
        submitted = {
            "agent": agent.name,
            "resultHash": cid,
            "proof": agent.proof("submit", task, cid),
        }
        done(http.post(f"{path}/submit", json=submitted))
        # 3. to 6. The judge fetches by CID and evaluates.
        shown = done(http.get(path))["task"]
        assert done(http.get("/api/tasks", params={"judge": "judy"}))["tasks"][0] == shown
        standard = json.loads(http.get(f"/api/content/{shown['evaluationCID']}").content)
        assert standard == STANDARD
        result = http.get(f"/api/content/{shown['resultHash']}").text
        verdict = done(
            http.post("/api/evaluate", json={"standard": standard, "submission": result})
        )
        assert int(verdict["score"]) == 66
        # 7. judgeAndPay
        judged = {
            "by": "judy",
            "score": int(verdict["score"]),
            "winner": agent.name,
            "resultHash": shown["resultHash"],
            "reasonURI": verdict["record_cid"],
        }
        receipt = done(http.post(f"{path}/judge", json=judged))
        # 8. 66 is enough.
        assert receipt["state"] == "paid"
        story = done(http.get(path))
        assert [event["kind"] for event in story["events"]][-2:] == ["Judged", "Paid"]
        balance = done(http.get("/api/ledger/balance", params={"account": agent.name}))
        assert balance["balances"] == [{"account": "user:http-solver", "amount": "0.05"}]
        again = http.post(f"{path}/judge", json={**judged, "score": 0})
        assert (again.status_code, again.json()["code"]) == (409, "wrong_state")
        assert done(http.get("/api/ledger/audit"))["is_clean"]
        # The Python client shows the same, without asyncio.
        with SyncClient(str(http.base_url)) as client:
            assert client.task(task).task.state == "paid"
            assert next(client.watch_market(since=0)).kind == "TestMoneyDeposited"
            with pytest.raises(NotFound, match="7"):
                client.task(7)


def test_without_an_executor_a_task_is_reported_and_submitted_by_hand(shell: Any, tmp_path: Path):
    shell.arena("ledger", "deposit", "alice", "1")
    post(shell, tmp_path)
    worker = shell.start("join", "--agent-id", "by-hand", "--poll", "0.5")
    try:
        assert worker.stdout is not None
        events: list[dict[str, Any]] = []
        while not events or events[-1]["event"] != "task_assigned":
            events.append(json.loads(worker.stdout.readline()))
        assert events[-1]["id"] == 1
        assert events[-1]["description"] == DESCRIPTION
        (tmp_path / "answer.py").write_text("def double(n):\n    return 0\n")
        submitted = shell.arena("task", "submit", "1", str(tmp_path / "answer.py"))
        assert submitted.returncode == 0, submitted.stderr
        assert "task 1 is submitted" in submitted.stdout
        assert shell.arena("judge", "--once", "--as", "judy").returncode == 0
        # A task submitted by hand is followed like any other.
        while events[-1]["event"] != "task_refunded":
            events.append(json.loads(worker.stdout.readline()))
        kinds = ("applied", "assigned", "submitted", "judged", "refunded")
        assert [event["event"] for event in events] == [f"task_{kind}" for kind in kinds]
    finally:
        worker.terminate()
        worker.wait(timeout=60)
        worker.stdout.close()
        worker.stderr.close()
    refunded = shell.json("task", "show", "1")["task"]
    assert (refunded["state"], refunded["score"]) == ("refunded", 0)


def test_a_submitted_file_names_its_language_or_is_not_handed_in(shell: Any, tmp_path: Path):
    shell.arena("ledger", "deposit", "alice", "1")
    program = {"type": "test_cases", "cases": [{"input": [1], "expected": 6}]}
    for name, standard in (("any", program), ("ruby", {**program, "language": "ruby"})):
        (tmp_path / f"{name}.json").write_text(json.dumps(standard))
        words = ["--standard", str(tmp_path / f"{name}.json"), "--reward", "0.05", "--as", "alice"]
        shell.json("task", "post", "Print 6.", *words, "--judge", "judy", "--assignment", "first")
    assert shell.arena("join", "--agent-id", "by-hand", "--register-only").returncode == 0
    for task in ("1", "2"):
        shell.json("task", "apply", task)
    for name in ("answer", "answer.sh"):
        (tmp_path / name).write_text("echo 6\n")
    for task, name, message in (
        ("1", "answer", "the language of the program is not evident; name it"),
        ("2", "answer.sh", "the standard asks for ruby, but the submission names shell"),
    ):
        refused = shell.arena("task", "submit", task, str(tmp_path / name))
        assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr
        assert shell.json("task", "show", task)["task"]["state"] == "assigned"
    done = shell.json("task", "submit", "1", str(tmp_path / "answer.sh"))["task"]
    assert (done["state"], done["language"]) == ("submitted", "shell")
    words = ["task", "submit", "2", str(tmp_path / "answer.sh"), "--language", "ruby"]
    assert shell.json(*words)["task"]["language"] == "ruby"
    assert shell.arena("judge", "--once", "--as", "judy").returncode == 0
    # The option is believed: as Ruby, the second answer is wrong.
    scores = [shell.json("task", "show", task)["task"]["score"] for task in ("1", "2")]
    assert scores == [100, 0]


def test_a_dry_run_shows_and_does_nothing(shell: Any, tmp_path: Path):
    shell.arena("ledger", "deposit", "alice", "1")
    post(shell, tmp_path)
    assert shell.arena("join", "--agent-id", "shy", "--register-only").returncode == 0
    started = shell.arena("start", "--dry-run", "--exec", "cat")
    assert started.stdout == "task 1 would be applied for: 0.05 TEST\n"
    assert shell.json("task", "show", "1")["applicants"] == []
    started = shell.arena("start", "--exec", "no-such-program-anywhere")
    assert (started.returncode, "no program" in started.stderr) == (2, True)


def test_mistakes_are_reported_in_one_line(shell: Any, tmp_path: Path):
    (tmp_path / "standard.json").write_text(json.dumps({**STANDARD, "pass_score": 80}))
    words = ["task", "post", "x", "--standard", str(tmp_path / "standard.json"), "--as", "alice"]
    mistakes: list[tuple[list[str], str]] = [
        ([*words, "--reward", "0.05", "--judge", "judy"], "set its pass_score to 60"),
        ([*words, "--reward", "0,05", "--judge", "judy"], "like"),
        ([*words, "--reward", "1", "--judge", "judy", "--deadline", "soon"], "--deadline"),
        (["task", "show", "7"], "task 7"),
        (["join", "--agent-id", "q", "--exec", "no-such-program-anywhere"], "no program"),
        (["join", "--agent-id", "q", "--exec", "an 'open quote"], "cannot be read"),
        # Nobody: the joins above have failed.
        (["start"], "arena join --agent-id"),
        (["judge", "--once"], "--as NAME"),
        (["judge", "--as", "judy"], "--watch"),
        (["task", "submit", "1", "nothing.txt"], "arena join"),
    ]
    for command, message in mistakes:
        failed: subprocess.CompletedProcess[str] = shell.arena(*command)
        assert failed.returncode == 2, (command, failed.stdout, failed.stderr)
        assert message in failed.stderr, (command, failed.stderr)
        assert failed.stderr.count("\n") == 1
