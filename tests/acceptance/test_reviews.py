"""`arena review` in a terminal and through a pipe, and a server killed during a review."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from drills import Arena, Server, until
from factories import write_agent, write_checklist, write_tests

PATIENCE_SECONDS = 60
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def poets(shell):
    """A user whose run needs two answers judged by people."""
    write_agent(shell.home / "agents", "poet", "return '\\n'.join([prompt.upper()] * 60)")
    write_tests(shell.home / "benchmarks" / "plain.yaml", agents=["poet"], count=1)
    write_checklist(shell.home / "benchmarks" / "odes.yaml", agents=["poet"], count=2)
    return shell


def run_of(shell) -> dict[str, Any]:
    return shell.json("runs", "list")["runs"][0]


class Typist:
    """A user at a real pseudo-terminal, who types when some text is shown."""

    def __init__(self, shell, *words: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = shell.start(*words, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        self._seen = ""
        self.shown = ""

    def sees(self, text: str) -> None:
        """Wait until the text is shown, after what was already seen."""
        end = time.monotonic() + PATIENCE_SECONDS
        while text not in self._seen:
            assert time.monotonic() < end, f"never shown: {text!r}; shown: {self.shown}"
            assert self._read(), f"ended without {text!r}; shown: {self.shown}"
        self._seen = self._seen.partition(text)[2]

    def types(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def leaves(self) -> int:
        """Read all output and return the exit code."""
        while self._read():
            pass
        os.close(self._ours)
        return self.process.wait(timeout=PATIENCE_SECONDS)

    def _read(self) -> bool:
        if not select.select([self._ours], [], [], PATIENCE_SECONDS)[0]:
            os.kill(self.process.pid, signal.SIGKILL)
            raise AssertionError(f"nothing happens any more; shown: {self.shown}")
        try:
            part = os.read(self._ours, 65536).decode(errors="replace")
        except OSError:  # the other end is closed: end of file on a terminal
            return False
        self._seen = ESCAPES.sub("", self._seen + part)
        self.shown += part
        return bool(part)


def test_a_person_judges_by_single_keys(poets):
    done = poets.arena("run", "poet")
    assert done.returncode == 0, done.stderr
    assert "2 answers to be judged by people: arena review --run" in done.stdout
    mia = Typist(poets, "review", "--reviewer", "mia")
    mia.sees("lines more")
    mia.types(" ")  # the next page
    mia.sees("lines more")
    mia.types("x")  # skip the rest
    mia.sees("[1/3] clear")
    mia.types("p")
    mia.sees("[2/3] true")
    mia.types("b")
    mia.sees("you answered: pass")
    mia.types("f")
    mia.sees("[2/3] true")
    mia.types("n")
    mia.sees("note: ")
    mia.types("rosés ar\x7fe red\r")
    mia.sees("note: rosés ae red")
    mia.types("p")
    mia.sees("[3/3] short")
    mia.types("p")
    mia.sees("2 of 3 pass: Enter sends, b goes back")
    mia.types("\r")
    mia.sees("done, 3 of 3 items answered")
    mia.sees("lines more")
    mia.types("xq")
    assert mia.leaves() == 0
    (review,) = poets.json("review", "--list", "--status", "done")["reviews"]
    items = poets.json("review", review["id"])["items"]
    assert [item["passed"] for item in items] == [False, True, True]
    assert items[1]["answers"][0]["note"] == "rosés ae red"
    assert items[1]["answers"][0]["reviewer"] == "mia"
    assert run_of(poets)["awaiting_tests"] == 1


def test_a_terminal_is_given_back_as_it_was_when_a_reviewer_is_interrupted(poets):
    poets.arena("run", "poet")
    mia = Typist(poets, "review")
    mia.sees("lines more")
    before = termios.tcgetattr(mia._ours)[3]
    assert not before & termios.ECHO
    mia.process.send_signal(signal.SIGINT)
    assert mia.leaves() == 130
    assert "Traceback" not in mia.shown


def test_keys_may_come_through_a_pipe(poets):
    poets.arena("run", "poet")
    run = run_of(poets)
    words = ("review", "--run", run["id"], "--reviewer", "bob")
    done = poets.arena(*words, input="pn too long\nf\np pp\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done, 3 of 3 items answered") == 1
    assert "2 of 3 items answered" in done.stdout  # the input has ended: answers so far are kept
    assert run_of(poets)["status"] == "awaiting_review"
    done = poets.arena(*words, input="ssp")
    assert "done, 3 of 3 items answered" in done.stdout
    assert run_of(poets)["status"] == "completed"
    assert "no reviews are waiting for you" in poets.arena(*words, input="").stdout


def test_answers_may_come_from_a_file(poets, tmp_path: Path):
    poets.arena("run", "poet", "--test", "odes_00001")
    (review,) = poets.json("review")["reviews"]
    file = tmp_path / "answers.json"
    file.write_text(json.dumps([{"item": item, "passed": True} for item in range(4)]))
    refused = poets.arena("review", "--answer", review["id"], str(file))
    assert (refused.returncode, "no item 3" in refused.stderr) == (2, True)
    file.write_text(json.dumps([{"item": item, "passed": True} for item in range(3)]))
    taken = poets.arena("review", "--answer", review["id"], str(file), "--json")
    assert json.loads(taken.stdout)["review"]["status"] == "done"
    assert run_of(poets)["score_percent"] == 100.0
    late = poets.arena("review", review["id"])
    assert (late.returncode, "is done" in late.stderr) == (2, True)


SLOW = {"validation": "regex", "expected": {"pattern": "(a+)+b$"}}
"""Searches this agent's answer until the time limit for patterns."""


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_kill_9_between_the_last_answer_and_the_verdict_loses_neither(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
):
    home = tmp_path / "home"
    write_agent(home / "agents", "poet", "return 'a' * 5000")
    people = {"validation": "checklist", "expected": {"items": ["kind"]}}
    expected = {"all_of": [people, SLOW, SLOW, SLOW]}
    write_checklist(
        home / "benchmarks" / "odes.yaml", agents=["poet"], validation="all_of", expected=expected
    )
    arena = Arena(home, request.getfixturevalue("postgres_url") if kind == "postgresql" else None)
    with arena.serving() as server:
        run_id = server.post("/api/benchmarks/run", {"agent_id": "poet"})["run_id"]
        server.post(f"/api/benchmarks/run/{run_id}/execute")
        (review,) = server.get("/api/reviews")["reviews"]
        path = f"/api/reviews/{review['id']}"
        body = {"answers": [{"place": [0], "item": 0, "passed": True}]}
        poster = threading.Thread(target=post_in_vain, args=(server, path, body))
        poster.start()
        until(lambda: status_of(server, path) == "answered", "the answer was taken")
        server.kill()
        poster.join()
    with arena.serving() as server:
        run = f"/api/benchmarks/runs/{run_id}"
        until(lambda: server.get(run)["run"]["status"] == "completed", "the run was completed")
        assert status_of(server, path) == "done"
        details = server.get(run)
        assert (details["run"]["failed_tests"], details["run"]["awaiting_tests"]) == (1, 0)
        assert details["results"][0]["score"] == 25.0
        assert [answer["passed"] for answer in server.get(path)["items"][0]["answers"]] == [True]


def post_in_vain(server: Server, path: str, body: object) -> None:
    """A request without a response: its server is killed meanwhile."""
    with pytest.raises(OSError):
        server.post(path, body)


def status_of(server: Server, path: str) -> str:
    return server.get(path)["review"]["status"]
