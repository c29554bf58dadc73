"""`arena chain register-file`, `feedback`, `validate` and `job` as real commands on a real node."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import warm
from anvil_node import PARTIES, LocalChain
from arena.content.cid import parse_cid
from drills import until
from standard_contracts import Deployed, deployed

ALICE, BOB, JUDY = range(3)
BUDGET = 5_000_000
STANDARD = {
    "type": "test_cases",
    "functionName": "add",
    "language": "python",
    "cases": [{"input": [1, 2], "expected": 3}, {"input": [2, 2], "expected": 4}],
}
GOOD = "def add(a, b):\n    return a + b\n"
BAD = "def add(a, b):\n    return 0\n"
REQUEST = "0x" + "ab" * 32


@dataclass(frozen=True, kw_only=True)
class User:
    """The command `arena` with a home, a node and the keys of three parties."""

    home: Path
    chain: LocalChain

    @property
    def environment(self) -> Mapping[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
        keys = zip(PARTIES, self.chain.accounts, strict=False)
        return {
            **kept,
            "ARENA_HOME": str(self.home),
            "ARENA_CHAIN_URL": self.chain.url,
            "ARENA_CHAIN_KEYS": ",".join(f"{name}:{one.private_key}" for name, one in keys),
            "ARENA_CHAIN_CONFIRMATIONS": "1",
        }

    def arena(self, *words: str) -> subprocess.CompletedProcess[str]:
        return warm.run(words, self.environment)

    def json(self, *words: str) -> Any:
        done = self.arena(*words, "--json")
        assert done.returncode == 0, (words, done.stderr)
        return json.loads(done.stdout)

    def refused(self, *words: str) -> str:
        done = self.arena(*words)
        assert done.returncode == 2, (words, done.stdout, done.stderr)
        return done.stderr

    def file(self, name: str, text: str) -> str:
        self.home.mkdir(exist_ok=True)
        (self.home / name).write_text(text)
        return str(self.home / name)

    def address(self, party: int) -> str:
        return self.chain.accounts[party].address


@pytest.fixture
def user(chain: LocalChain, tmp_path: Path) -> User:
    return User(home=tmp_path / "home", chain=chain)


@pytest.fixture
def token(user: User) -> Deployed:
    made = deployed(user.chain, "TestToken")
    made.send("mint", user.address(ALICE), 2 * BUDGET, by=user.address(ALICE))
    return made


@pytest.fixture
def jobs(user: User, token: Deployed) -> Deployed:
    return deployed(user.chain, "Jobs", token.address)


def posted(user: User, jobs: Deployed) -> Any:
    """A funded job of alice for bob, which judy evaluates."""
    parties = ("--provider", "bob", "--evaluator", user.address(JUDY), "--as", "alice")
    file = user.file("standard.json", json.dumps(STANDARD))
    terms = ("--standard", file, "--budget", str(BUDGET), "--contract", jobs.address)
    return user.json("chain", "job", "post", "Write add(a, b).", *parties, *terms)


@pytest.mark.parametrize(
    ("code", "status", "paid"),
    [(GOOD, "Completed", BUDGET), (BAD, "Rejected", 0)],
    ids=["completed", "rejected"],
)
def test_a_job_from_its_posting_to_its_end(
    user: User, jobs: Deployed, token: Deployed, code: str, status: str, paid: int
):
    at = ("--contract", jobs.address)
    job = posted(user, jobs)
    assert (job["id"], job["state"], job["budget"]) == (1, "assigned", BUDGET)
    cid = user.json("content", "put", user.file("add.py", code))["cid"]
    sent = user.json("chain", "job", "submit", "1", *at, "--result", cid, "--as", "bob")
    assert sent["status"] == "final"
    # The standard is the one that the job's description names.
    judged = user.arena("chain", "job", "judge", "1", *at, "--result", cid, "--as", "judy")
    assert judged.returncode == 0, judged.stderr
    assert f"is {status}" in judged.stdout
    shown = user.json("chain", "job", "show", "1", *at)
    assert user.arena("verify", shown["record_cid"]).returncode == 0
    assert token.read("balanceOf", user.address(BOB)) == paid
    assert token.read("balanceOf", user.address(ALICE)) == 2 * BUDGET - paid
    again = user.refused("chain", "job", "judge", "1", *at, "--result", cid, "--as", "judy")
    assert f"is {status}" in again
    text = user.arena("chain", "job", "show", "1", *at).stdout
    assert f"status      {status}" in text
    assert shown["record_cid"] in text


def test_a_job_is_refused_with_a_reason(user: User, jobs: Deployed):
    at = ("--contract", jobs.address)
    posted(user, jobs)
    cid = user.json("content", "put", user.file("add.py", GOOD))["cid"]
    submit = ("chain", "job", "submit", "1", *at, "--result", cid, "--as")
    assert "submit of job 1" in (text := user.refused(*submit, "judy"))
    assert "the contract refused: not the provider" in text
    user.json(*submit, "bob")
    judge = ("chain", "job", "judge", "1", *at, "--as")
    assert "not by 'bob'" in user.refused(*judge, "bob", "--result", cid)
    other = user.json("content", "put", user.file("other.py", BAD))["cid"]
    assert "is not what was submitted" in user.refused(*judge, "judy", "--result", other)
    assert "has no job 9" in user.refused("chain", "job", "show", "9", *at)
    nowhere = "0x" + "22" * 20
    assert "no contract at" in user.refused("chain", "job", "show", "1", "--contract", nowhere)
    refund = user.refused("chain", "job", "refund", "1", *at, "--as", "bob")
    assert "claimRefund of job 1" in refund
    assert "not expired" in refund


def test_a_judge_that_is_killed_after_sending_goes_on_with_the_same_verdict(
    user: User, jobs: Deployed, token: Deployed
):
    at = ("--contract", jobs.address)
    posted(user, jobs)
    cid = user.json("content", "put", user.file("add.py", GOOD))["cid"]
    user.json("chain", "job", "submit", "1", *at, "--result", cid, "--as", "bob")
    judge = ("chain", "job", "judge", "1", *at, "--result", cid, "--as", "judy")
    with user.chain.paused():
        with warm.start(judge, user.environment) as killed:
            until(user.chain.waiting, "a verdict in the node's pool")
            killed.send_signal(signal.SIGKILL)
        (sent,) = user.chain.waiting()
        user.chain.mine()
    judged = user.json(*judge)
    assert judged["sent"] == {"transaction_hash": sent, "status": "final"}
    assert (judged["score"], judged["job"]["state"]) == (100, "paid")
    digest = bytes.fromhex(judged["job"]["reason"][2:])
    assert [one["reason"] for one in jobs.events("JobCompleted")] == [digest]
    assert parse_cid(judged["record_cid"]).digest == digest
    assert user.chain.number("eth_getTransactionCount", user.address(JUDY), "latest") == 1
    assert token.read("balanceOf", user.address(BOB)) == BUDGET


def test_a_paid_task_in_the_registries(user: User):
    identity = deployed(user.chain, "IdentityRegistry")
    reputation = deployed(user.chain, "ReputationRegistry", identity.address)
    validation = deployed(user.chain, "ValidationRegistry", identity.address)
    identity.send("register", by=user.address(BOB))
    assert user.arena("join", "--agent-id", "bob", "--register-only").returncode == 0
    assert user.arena("ledger", "deposit", "alice", "10").returncode == 0
    standard = ("--standard", user.file("standard.json", json.dumps(STANDARD)))
    terms = ("--reward", "1", "--judge", "judy", "--assignment", "first")
    user.json("task", "post", "Write add(a, b).", *standard, *terms, "--as", "alice")
    user.json("task", "apply", "1", "--agent-id", "bob")
    user.json("task", "submit", "1", user.file("add.py", GOOD), "--agent-id", "bob")
    number = ("--agent-id", "0", "--as", "alice")
    give = ("chain", "feedback", "1", "--registry", reputation.address, *number)
    assert "has no settled verdict" in user.refused(*give)
    assert user.arena("judge", "--as", "judy", "--once").returncode == 0

    made = user.json("chain", "register-file", "bob", "--url", "https://arena.example")
    assert made["file"]["registrations"] == []
    known = ("--registry", identity.address, "--agent-id", "0")
    made = user.json("chain", "register-file", "bob", *known)
    assert [one["agentId"] for one in made["file"]["registrations"]] == [0]
    stored = json.loads(user.arena("content", "get", made["cid"]).stdout)
    assert stored["name"] == "bob"
    assert stored["registrations"] == made["file"]["registrations"]

    given = user.json(*give)
    assert (given["value"], given["index"]) == (100, 1)
    assert user.json(*give) == given
    assert len(reputation.events("NewFeedback")) == 1

    hash_of_request = bytes.fromhex(REQUEST[2:])
    asked = (user.address(JUDY), 0, "ipfs://request", hash_of_request)
    validation.send("validationRequest", *asked, by=user.address(BOB))
    place = ("--registry", validation.address, "--request", REQUEST)
    done = user.arena("chain", "validate", "1", *place, "--as", "judy")
    assert done.returncode == 0, done.stderr
    assert f"response 100 to request {REQUEST} for agent 0" in done.stdout
    assert validation.read("getValidationStatus", hash_of_request)[2] == 100
