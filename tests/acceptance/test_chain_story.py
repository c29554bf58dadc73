"""The story of paid tasks on a chain: the same commands as without one, only other settings."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import pytest
from eth_account import Account

import warm
from acceptance.conftest import Shell
from acceptance_chain import chain_up, deployed, processes_of, with_settings
from acceptance_market import PATIENCE_SECONDS, PAUSE_SECONDS, wait_for_state, wait_for_task
from anvil_node import new_anvil

ROOT = Path(__file__).parents[2]
NOWHERE = "0x" + "22" * 20

SOLVER = """
import json, sys
factor = 2 if "2 * n" in json.load(sys.stdin)["description"] else 5
print(json.dumps({"result": f"def times(n):\\n    return {factor} * n\\n"}))
"""
"""Right for the first task, wrong for the second."""


def standard(factor: int) -> dict[str, Any]:
    cases = [{"input": [n], "expected": factor * n} for n in range(3)]
    return {"type": "test_cases", "functionName": "times", "cases": cases}


# The script.


def story(user: Shell, folder: Path, agents_machine: Shell | None = None) -> dict[str, Any]:
    """A poster, an agent and a judge, from the command line; returns what became of it.

    The agent is on the machine of the others, unless it has one of its own.
    """
    folder.mkdir()
    (folder / "solver.py").write_text(SOLVER)
    assert user.arena("ledger", "deposit", "alice", "1").returncode == 0
    for factor in (2, 3):
        path = folder / f"times-{factor}.json"
        path.write_text(json.dumps(standard(factor)))
        words = ["--standard", str(path), "--reward", "0.05", "--as", "alice", "--judge", "judy"]
        posted = user.json("task", "post", f"Write times(n): {factor} * n.", *words)
        assert posted["task"]["state"] == "open"
    solver = ["--agent-id", "solver", "--exec", f"{sys.executable} {folder / 'solver.py'}"]
    with (
        working(
            agents_machine or user,
            folder / "agent.log",
            *("join", *solver, "--max-concurrent", "2", "--poll", "0.5", "--json"),
        ) as agent,
        working(
            user, folder / "judge.log", "judge", "--watch", "--as", "judy", "--poll", "0.5"
        ) as judge,
    ):
        for task in (1, 2):
            wait_for_task(user, task, lambda one: one["applicant_count"] == 1)
            user.json("task", "assign", str(task), "--as", "alice")
        wait_for_state(user, 1, "paid", "refunded")
        wait_for_state(user, 2, "paid", "refunded")
        wait_for_line(folder / "agent.log", '"task_paid"')
        wait_for_line(folder / "agent.log", '"task_refunded"')
    assert (agent.returncode, judge.returncode) == (0, 0)
    return outcome(user, folder)


def outcome(user: Shell, folder: Path) -> dict[str, Any]:
    """What the parties see at the end, without times and without the names of a chain."""
    stories = [user.json("task", "show", str(task)) for task in (1, 2)]
    for one in stories:
        verified = user.arena("verify", one["task"]["reasonURI"])
        assert verified.returncode == 0, verified.stdout
    balances = {one["account"]: one["amount"] for one in user.json("ledger", "balance")["balances"]}
    history = user.json("ledger", "history", "alice")["lines"]
    audit = user.arena("ledger", "audit")
    return {
        "tasks": [
            {
                name: one["task"][name]
                for name in ("state", "score", "payout", "agent", "resultHash")
            }
            for one in stories
        ],
        "events": [
            [(event["kind"], event["who"], event["why"]) for event in one["events"]]
            for one in stories
        ],
        "money": [
            [(entry["kind"], entry["postings"]) for entry in one["entries"]] for one in stories
        ],
        "list": [(one["id"], one["state"]) for one in user.json("task", "list")["tasks"]],
        "alice": [
            (one["task_id"], one["kind"], one["amount"]) for one in history if one["task_id"]
        ],
        "agent": balances["user:solver"],
        "locked": [name for name in balances if name.startswith(("escrow", "bond", "credit"))],
        "audit": (audit.returncode, "all invariants hold" in audit.stdout),
        "seen by the agent": sorted(
            (one["id"], one["event"]) for one in map(json.loads, json_lines(folder / "agent.log"))
        ),
    }


@contextmanager
def working(user: Shell, log: Path, *words: str) -> Iterator[warm.Process]:
    """A command that works in the background until the block ends."""
    with warm.start(words, user.environment, log=log) as process:
        try:
            yield process
        except BaseException:
            print(words, log.read_text(), sep="\n")  # for the report of the failed test
            raise
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE_SECONDS)


def json_lines(log: Path) -> list[str]:
    return [line for line in log.read_text().splitlines() if line.startswith("{")]


def wait_for_line(log: Path, text: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not any(text in line for line in json_lines(log)):
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(PAUSE_SECONDS)


# The same with different settings.


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The outcome without a chain."""
    folder = tmp_path_factory.mktemp("embedded")
    return story(Shell(home=folder / "home"), folder / "work")


@pytest.fixture
def on_chain(shell: Shell) -> Iterator[Shell]:
    """A user with a local node, a contract, and keys of alice, judy and the operator."""
    with chain_up(shell) as user:
        yield deployed(user)


def test_without_a_chain_the_right_solution_is_paid_and_the_wrong_one_refunded(
    embedded: dict[str, Any],
):
    first, second = embedded["tasks"]
    assert (first["state"], first["score"], first["payout"]) == ("paid", 100, "0.05")
    assert (second["state"], second["score"], second["payout"]) == ("refunded", 33, "0")
    assert embedded["agent"] == "0.05"
    assert (embedded["locked"], embedded["audit"]) == ([], (0, True))


def test_the_same_commands_have_the_same_outcome_on_a_chain(
    on_chain: Shell, tmp_path: Path, embedded: dict[str, Any]
):
    assert story(on_chain, tmp_path / "work") == embedded
    contract = on_chain.json("chain", "status")["contract"]
    assert (contract["task_count"], contract["held"], contract["balance"]) == (2, "0", "0")


def test_the_same_through_a_server_that_never_gets_the_key_of_the_agent(
    on_chain: Shell, tmp_path: Path, embedded: dict[str, Any]
):
    log = tmp_path / "server.log"
    server = with_settings(on_chain, ARENA_LOG_LEVEL="debug")
    with server.serving(log=log) as http:
        url = str(http.base_url).rstrip("/")
        others = Shell(home=tmp_path / "others", variables={"ARENA_SERVER": url})
        far = Shell(
            home=tmp_path / "far",
            variables={"ARENA_SERVER": url, "ARENA_CHAIN_PASSWORD": "far away"},
        )
        assert far.arena("chain", "key", "new", "solver").returncode == 0
        assert story(others, tmp_path / "work", agents_machine=far) == embedded
        assert http.get("/api/market").json()["ledger"] == "evm"
        parties = {
            one["name"]: one["address"] for one in others.json("chain", "parties")["parties"]
        }
    stored = json.loads((far.home / "keystore" / "solver.json").read_text())
    key = bytes(Account.decrypt(stored, "far away"))
    assert Account.from_key(key).address.lower() == parties["solver"], "it earned with this key"
    assert "POST /api/tasks/1/apply" in log.read_text()
    written = [log, *(path for path in server.home.rglob("*") if path.is_file())]
    assert any(path.name == "arena.db" for path in written)
    for path in written:
        data = path.read_bytes()
        assert key not in data, path
        assert key.hex().encode() not in data.lower(), path
        assert b"far away" not in data, path
        assert stored["crypto"]["ciphertext"].encode() not in data, path


# Mistakes.


def test_mistakes_with_a_chain_are_reported_in_one_line(on_chain: Shell, tmp_path: Path):
    (tmp_path / "standard.json").write_text(json.dumps(standard(2)))
    poor = on_chain.arena("chain", "key", "new", "poor").stdout.strip()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        closed = f"http://127.0.0.1:{listener.getsockname()[1]}"
    no_node = {"ARENA_CHAIN_URL": "", "ARENA_CHAIN_CONTRACT": ""}
    mistakes: list[tuple[dict[str, str], str, int, str]] = [
        (no_node, "alice", 2, "set ARENA_CHAIN_URL and ARENA_CHAIN_CONTRACT"),
        ({"ARENA_CHAIN_ID": "1"}, "alice", 2, "serves chain 31337, expected was chain 1"),
        ({"ARENA_CHAIN_URL": closed}, "alice", 3, f"the node {closed} cannot be reached"),
        ({"ARENA_CHAIN_CONTRACT": NOWHERE}, "alice", 2, f"there is no contract at {NOWHERE}"),
        ({}, "poor", 2, f"{poor} has 0 ETH, up to 0.05"),
        ({}, "zoe", 2, "the key of 'zoe' is not on this machine"),
        ({"ARENA_CHAIN_KEYS": ""}, "alice", 2, "the key of 'alice' is not on this machine"),
        ({"ARENA_CHAIN_PASSWORD": ""}, "poor", 2, "set ARENA_CHAIN_PASSWORD"),
        ({"ARENA_CHAIN_PASSWORD": "no"}, "poor", 2, "ARENA_CHAIN_PASSWORD is not the password"),
    ]
    words = ["task", "post", "x", "--standard", str(tmp_path / "standard.json")]
    for settings, poster, code, message in mistakes:
        user = with_settings(on_chain, **settings)
        failed = user.arena(*words, "--reward", "0.05", "--judge", "judy", "--as", poster)
        assert (failed.returncode, failed.stdout) == (code, ""), (message, failed)
        assert failed.stderr.startswith("error: "), failed.stderr
        assert message in failed.stderr
        assert failed.stderr.count("\n") == 1, failed.stderr
    status = on_chain.json("chain", "status")
    assert (status["contract"]["task_count"], status["unfinished"]) == (0, [])


# Demos.


@pytest.fixture
def visitor(tmp_path: Path) -> Shell:
    """Somebody without any settings."""
    new_anvil(tmp_path)
    return Shell(home=tmp_path / "visitor")


def test_the_demo_needs_no_settings_and_leaves_nothing_behind(visitor: Shell):
    done = visitor.arena("chain", "demo")
    assert (done.returncode, done.stderr) == (0, "")
    for text in (
        "the contract holds 0.1 ETH",
        "task 1 is paid: score 100",
        "task 2 is refunded: score 50",
        "the contract holds 0 ETH",
    ):
        assert text in done.stdout, done.stdout
    assert processes_of(visitor.home) == []
    # What it says at its end works.
    kept = Shell(home=visitor.home / "chain-demo")
    assert f"export ARENA_HOME={kept.home}\narena task show 1\n" in done.stdout
    assert kept.json("task", "show", "1")["task"]["state"] == "paid"


def test_the_demo_touches_no_other_chain(visitor: Shell):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        settings = {
            "ARENA_CHAIN_URL": url,
            "ARENA_CHAIN_ID": "1",
            "ARENA_CHAIN_CONTRACT": NOWHERE,
            "ARENA_CHAIN_KEYS": f"alice:0x{'11' * 32}",
            "ARENA_CHAIN_RELAYER": "nobody",
            "ARENA_CHAIN_TEAM": "red",
            "ARENA_CHAIN_CURRENCY": "XYZ",
            "ARENA_SERVER": url,
            "ARENA_TEAM": "blue",
        }
        done = with_settings(visitor, **settings).arena("chain", "demo")
        assert done.returncode == 0, done.stderr
        assert not select.select([listener], [], [], 0)[0], "it connected to another chain"
    assert "the contract holds 0 ETH" in done.stdout


@contextmanager
def held_demo(visitor: Shell) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """A demo whose node runs, and which waits in its first line because its output is full."""
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    with suppress(BlockingIOError):
        while True:
            os.write(theirs, b"\n" * select.PIPE_BUF)
    os.set_blocking(theirs, True)
    with os.fdopen(ours) as output, visitor.start("chain", "demo", stdout=theirs) as process:
        os.close(theirs)
        deadline = time.monotonic() + PATIENCE_SECONDS
        node = visitor.home / "chain-demo" / "chain" / "accounts.json"
        while not node.exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(PAUSE_SECONDS)
        yield process, output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_demo_that_is_stopped_stops_its_node(visitor: Shell, number: signal.Signals):
    with held_demo(visitor) as (running, output):
        second = visitor.arena("chain", "demo")
        assert (second.returncode, second.stderr.count("\n")) == (2, 1)
        assert "another demo runs" in second.stderr
        running.send_signal(number)
        assert "The node is stopped" not in output.read()
    assert running.returncode == 128 + number
    assert processes_of(visitor.home) == []


def test_a_demo_that_was_killed_does_not_hinder_the_next(visitor: Shell):
    with held_demo(visitor) as (running, _):
        running.kill()
    (node,) = processes_of(visitor.home)
    assert "anvil" in node
    assert visitor.arena("chain", "demo").returncode == 0
    assert processes_of(visitor.home) == []


def test_a_demo_that_fails_stops_its_node(visitor: Shell):
    failed = with_settings(visitor, ARENA_SANDBOX="none").arena("chain", "demo")
    assert failed.returncode == 2
    assert failed.stderr.startswith("error: no sandbox provider is called 'none'")
    assert failed.stderr.count("\n") == 1, failed.stderr
    assert processes_of(visitor.home) == []


def test_the_demo_of_the_market_runs_on_a_chain(tmp_path: Path, visitor: Shell):
    """`scripts/demo-chain` in a checkout whose set-up is already done."""
    checkout = tmp_path / "checkout"
    programs = checkout / ".venv" / "bin"
    programs.mkdir(parents=True)
    warm.write_command(programs / "arena")
    (programs / "python").symlink_to(sys.executable)
    (checkout / "examples").symlink_to(ROOT / "examples")
    (checkout / "scripts").mkdir()
    for name in ("demo-chain", "demo-market"):
        shutil.copy(ROOT / "scripts" / name, checkout / "scripts")
    done = subprocess.run(
        [str(checkout / "scripts" / "demo-chain")],
        env={**visitor.environment, "ARENA_CHAIN_RELAYER": "nobody"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "task 1 is paid: score 100" in done.stdout
    assert "money      0 ETH held, balance 0 ETH" in done.stdout
    assert "all invariants hold" in done.stdout
    assert processes_of(checkout) == []
