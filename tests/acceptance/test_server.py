"""`arena serve`: files are live at once, tokens are required, and it shuts down cleanly."""

import contextlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from factories import write_agent, write_tests

PATIENCE_SECONDS = 30
"""Only whether a change is live is tested here, on any machine; `make bench` measures how soon."""

TOKEN = "a-token-of-some-length"


def soon(read: Callable[[], Any], holds: Callable[[Any], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds(got := read()):
        assert time.monotonic() < end, got
        time.sleep(0.02)


def test_files_are_live_without_a_restart(shell):
    folder = shell.home / "benchmarks"
    with shell.serving() as client:

        def tests() -> list[dict[str, Any]]:
            return client.get("/api/benchmarks/tests").json()["tests"]

        def state(name: str) -> dict[str, Any] | None:
            sources = client.get("/api/benchmarks/catalog").json()["sources"]
            found = [source for source in sources if source["file"].endswith(f"/{name}")]
            return found[0] if found else None

        assert len(tests()) == 17
        write_tests(folder / "mine.yaml", count=2)  # the folder itself is new
        soon(tests, lambda found: len(found) == 19)
        write_tests(folder / "mine.yaml", count=2, points=7.0)
        soon(tests, lambda found: [test["points"] for test in found].count(7.0) == 2)
        (folder / "more.yml").write_text("category: more\ntests:\n  - {id: x, nmae: y}\n")
        soon(lambda: state("more.yml"), lambda found: found is not None and found["state"] == "bad")
        problems = client.get("/api/benchmarks/catalog").json()["problems"]
        assert any("nmae" in problem["message"] and problem["line"] == 3 for problem in problems)
        (folder / "mine.yaml").write_text("tests: [")
        soon(lambda: state("mine.yaml"), lambda found: found["state"] == "last_good")
        assert len(tests()) == 19
        (folder / "mine.yaml").unlink()
        soon(tests, lambda found: len(found) == 17)
        (folder / "more.yml").unlink()
        soon(lambda: state("more.yml"), lambda found: found is None)

        write_agent(shell.home / "agents", "late", "return 'late'")
        assert "late" in client.get("/api/agents").text


def test_a_run_keeps_its_tests_while_their_file_changes(shell):
    write_agent(shell.home / "agents", "parrot", "return prompt.upper()")
    file = shell.home / "benchmarks" / "parrot.yaml"
    write_tests(file, count=3, agents=["parrot"])
    with shell.serving() as client:
        run = client.post("/api/benchmarks/run", json={"agent_id": "parrot"}).json()
        file.unlink()
        soon(lambda: client.get("/api/benchmarks/tests").json()["count"], lambda n: n == 17)
        done = client.post(f"/api/benchmarks/run/{run['run_id']}/execute").json()
        assert (done["status"], done["passed"]) == ("completed", 3)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_shuts_the_server_down_cleanly_despite_a_watcher(shell, number: int):
    write_agent(shell.home / "agents", "slow", "time.sleep(600)\nreturn 'x'")
    write_tests(shell.home / "benchmarks" / "slow.yaml", count=2, agents=["slow"])
    server = shell.start("serve", "--port", "0")
    assert server.stdout is not None
    url = server.stdout.readline().split()[3]
    with httpx2.Client(base_url=url, timeout=30, trust_env=False) as client:
        run = client.post("/api/benchmarks/run", json={"agent_id": "slow"}).json()["run_id"]
        client.post(f"/api/benchmarks/run/{run}/execute?wait=false")
        with client.stream("GET", f"/api/benchmarks/runs/{run}/events") as events:
            next(events.iter_lines())
            server.send_signal(number)
            _, err = server.communicate(timeout=30)
    assert server.returncode == 0, err
    assert "Traceback" not in err
    # It released its run, so that the next server can resume it at once.
    with shell.serving() as client:
        assert client.get(f"/api/benchmarks/runs/{run}").json()["run"]["status"] == "running"
        cancelled = client.post(f"/api/benchmarks/runs/{run}/cancel")
        assert cancelled.json()["status"] == "cancelled"


def test_the_longest_url_is_read_even_if_it_arrives_in_pieces(shell):
    with shell.serving() as client:
        cid = client.post("/api/content", content=b"packed").json()["cid"]
        address = "/api/archive?" + "&".join([f"cid={cid}"] * 1000)
        with socket.create_connection((client.base_url.host, client.base_url.port)) as line:
            head = f"GET {address} HTTP/1.0\r\nHost: {line.getpeername()[0]}\r\n\r\n".encode()
            for start in range(0, len(head), 20_000):
                line.sendall(head[start : start + 20_000])
                time.sleep(0.05)  # otherwise they might be read as one
            with line.makefile("rb") as answer:
                assert answer.readline().split()[1] == b"200"


def test_a_port_that_is_taken_is_reported(shell):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = shell.arena("serve", "--port", str(port))
    assert done.returncode == 3
    message = f"error: cannot listen on 127.0.0.1:{port}: Address already in use"
    assert done.stderr.startswith(message)


def test_a_failure_to_start_the_server_is_reported_in_one_line(shell):
    shell.home.parent.mkdir(parents=True, exist_ok=True)
    shell.home.write_text("a file where the home should be")
    done = shell.arena("serve", "--port", "0")
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_command_line_works_through_a_server(shell):
    write_agent(shell.home / "agents", "parrot", "return prompt.upper()")
    write_tests(shell.home / "benchmarks" / "parrot.yaml", count=3, agents=["parrot"])
    guarded = type(shell)(home=shell.home, variables={"ARENA_TOKENS": f"red:{TOKEN}"})
    with guarded.serving() as client:
        url = str(client.base_url)
        assert client.get("/api/agents").status_code == 401
        variables = {"ARENA_SERVER": url, "ARENA_TOKEN": TOKEN, "ARENA_TEAM": "red"}
        user = type(shell)(home=shell.home.parent / "elsewhere", variables=variables)
        done = user.arena("run", "parrot")
        assert done.returncode == 0, done.stderr
        assert "3 of 3 passed" in done.stdout
        assert user.json("runs", "list")["count"] == 1
        stranger = type(shell)(home=user.home, variables={"ARENA_SERVER": url})
        refused = stranger.arena("runs", "list")
        assert refused.returncode == 2
        assert "token" in refused.stderr
    assert not user.home.exists()


def test_a_server_that_dies_is_reported_to_the_watcher(shell):
    write_agent(shell.home / "agents", "slow", "time.sleep(600)\nreturn 'x'")
    write_tests(shell.home / "benchmarks" / "slow.yaml", count=2, agents=["slow"])
    server = shell.start("serve", "--port", "0", stderr=subprocess.DEVNULL)
    assert server.stdout is not None
    url = server.stdout.readline().split()[3]
    watching = shell.start("--server", url, "run", "slow")
    with httpx2.Client(base_url=url, timeout=30, trust_env=False) as client:
        end = time.monotonic() + 30
        while not client.get("/api/benchmarks/runs?status=running").json()["count"]:
            assert time.monotonic() < end
            time.sleep(0.05)
    time.sleep(0.3)
    server.kill()
    server.communicate(timeout=20)
    _, err = watching.communicate(timeout=30)
    assert watching.returncode == 3
    # After the first event, or before it.
    assert "closed the stream" in err or "no response from" in err
    assert f"arena --server {url} runs show" in err
    assert "Traceback" not in err


def test_half_sent_requests_stop_neither_the_server_nor_its_catalog(shell):
    command = 'ulimit -n 128; exec "$0" -m arena serve --port 0'
    server = subprocess.Popen(
        ["bash", "-c", command, sys.executable],
        env=shell.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with server, contextlib.ExitStack() as closing:
        closing.callback(server.kill)
        url = httpx2.URL(server.stdout.readline().split()[3])
        for _ in range(200):
            half = closing.enter_context(socket.create_connection((url.host, url.port)))
            half.sendall(b"POST /api/evaluate HTTP/1.1\r\nHost: localhost\r\n")
        with httpx2.Client(base_url=url, timeout=60, trust_env=False) as client:
            assert client.get("/api/health").json()["status"] == "ok"
            assert client.get("/api/benchmarks/catalog").json()["tests"] == 17
            report = client.get("/api/ready").json()
            assert report["ready"], report
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=60)
    lines = [line for line in err.splitlines() if "connections: " in line]
    assert len(lines) == 1
    assert "closed to make room" in lines[0]
    assert "Traceback" not in err


def test_streams_and_waiting_requests_end_without_a_traceback(shell):
    write_agent(shell.home / "agents", "slow", "time.sleep(600)\nreturn 'x'")
    write_tests(shell.home / "benchmarks" / "slow.yaml", count=2, agents=["slow"])
    server = shell.start("serve", "--port", "0")
    url = httpx2.URL(server.stdout.readline().split()[3])
    with httpx2.Client(base_url=url, timeout=60, trust_env=False) as client:
        run = client.post("/api/benchmarks/run", json={"agent_id": "slow"}).json()["run_id"]
        with contextlib.ExitStack() as closing:
            waiting = closing.enter_context(socket.create_connection((url.host, url.port)))
            head = f"POST /api/benchmarks/run/{run}/execute HTTP/1.1\r\nHost: localhost\r\n\r\n"
            waiting.sendall(head.encode())
            soon(
                lambda: client.get(f"/api/benchmarks/runs/{run}").json()["run"]["status"],
                lambda status: status == "running",
            )
            for path in (f"/api/benchmarks/runs/{run}/events", "/api/events", "/api/events"):
                stream = closing.enter_context(client.stream("GET", path))
                next(stream.iter_lines())
            server.send_signal(signal.SIGTERM)
            _, err = server.communicate(timeout=60)
            assert waiting.makefile("rb").readline().split()[1] in (b"200", b"503")
    assert server.returncode == 0, err
    assert "Traceback" not in err


@pytest.mark.parametrize("part", ["home", "home/executors"])
def test_a_home_that_cannot_be_written_is_reported_in_one_line(shell, part: str):
    # Not by permissions: they do not apply to root, whom some run the tests as.
    shell.home.mkdir()
    assert shell.arena("runs", "list").returncode == 0
    frozen = shell.home.parent / part
    frozen.mkdir(exist_ok=True)
    if subprocess.run(["chattr", "+i", str(frozen)], capture_output=True).returncode:
        pytest.skip("this file system has no immutable folders")
    try:
        done = shell.arena("serve", "--port", "0", timeout=60)
    finally:
        subprocess.run(["chattr", "-i", str(frozen)], check=True)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith("error: ")
