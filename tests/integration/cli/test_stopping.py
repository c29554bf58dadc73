"""A command that gets a signal to stop ends the processes it started."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from factories import write_tests


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_stopped_leaves_no_agent_behind_and_can_continue(
    tmp_path: Path, number: signal.Signals
):
    home = tmp_path / "home"
    (home / "agents").mkdir(parents=True)
    agent = {
        "id": "napper",
        "version": "1.0.0",
        "name": "Napper",
        "connector": {"type": "command", "command": "sh -c 'echo $$ > pid; sleep 300'"},
    }
    (home / "agents" / "napper.yaml").write_text(yaml.safe_dump(agent))
    write_tests(home / "benchmarks" / "naps.yaml", count=1, agents=["napper"], timeout=300)
    with subprocess.Popen(
        [sys.executable, "-m", "arena", "run", "napper"],
        env={**os.environ, "ARENA_HOME": str(home)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as command:
        pid = home / "agents" / "pid"
        while not (pid.exists() and pid.read_text().strip()):
            assert command.poll() is None
            time.sleep(0.02)
        command.send_signal(number)
        _, stderr = command.communicate()
    assert command.returncode == 128 + number
    assert "interrupted; continue with: arena runs resume" in stderr
    assert "Traceback" not in stderr
    assert not is_running(int(pid.read_text()))
    listed = arena(home, "runs", "list")
    assert "interrupted" in listed
    assert "running" not in listed
    (run,) = json.loads(arena(home, "runs", "list", "--json"))["runs"]
    assert (run["status"], run["is_interrupted"]) == ("running", True)
    assert f"continue with: arena runs resume {run['id']}" in arena(home, "runs", "show", run["id"])
    arena(home, "report", run["id"], "--html", str(home / "page"))
    assert "· interrupted ·" in (home / "page" / "index.html").read_text()


def arena(home: Path, *words: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "arena", *words],
        env={**os.environ, "ARENA_HOME": str(home), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
