"""A database, a server, workers and agents that belong together."""

import contextlib
import shutil
import signal
import sys
import tempfile
import time
import urllib.error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import yaml

from cluster.postgres import Postgres
from cluster.processes import PATIENCE_SECONDS, Command, Server, environment, until
from cluster.questions import Questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent and its tests."""

    name: str
    seconds: float
    """How long it takes for an answer."""
    tests: int
    at_once: int = 4
    per_minute: int | None = None
    trials: int = 1
    timeout_seconds: int = 10
    is_local: bool = False
    """Whether it is a program beside the worker, that keeps no log."""
    runs_code: bool = False
    """Whether its answers are judged by a program in a sandbox."""


class Cluster:
    """Everything, in one temporary folder; all of it is stopped at the end."""

    def __init__(
        self, agents: Sequence[Agent], *, address: str | None = None, network: str | None = None
    ) -> None:
        """`network` is a namespace that reaches the database by `address`."""
        self._stack = contextlib.ExitStack()
        self.folder = Path(tempfile.mkdtemp(prefix="arena-cluster-"))
        self.home = self.folder / "server"
        self.agents = {agent.name: agent for agent in agents}
        self._address = address
        self._network = network
        self.workers: dict[str, Command] = {}
        self.variables: dict[str, str] = {}
        """Of every command that is started from now on."""
        self._started = 0
        self.keeps_logs = False

    def __enter__(self) -> Self:
        try:
            self._open()
        except BaseException:
            self._stack.close()
            raise
        return self

    def _open(self) -> None:
        addresses = [self._address] if self._address else []
        self.postgres = self._stack.enter_context(Postgres(addresses))
        delays = {agent.name: agent.seconds for agent in self.agents.values()}
        networks = [self._network] if self._network else []
        self.questions = self._stack.enter_context(Questions(self.folder, delays, networks))
        for agent in self.agents.values():
            write_agent(self.home, agent, self.questions.url(agent.name))
        self._stack.callback(self._stop_all)
        self.start_server()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stack.close()
        if kind is None and not self.keeps_logs:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            print(f"logs: {self.folder}", file=sys.stderr)

    def _stop_all(self) -> None:
        for command in [*self.workers.values(), self.server]:
            with contextlib.suppress(Exception):
                command.kill()

    def start_server(self, *, is_embedded: bool = False) -> None:
        """Start the server; it executes nothing unless it is embedded."""
        url = self.postgres.url_of("server")
        log = self.folder / "server.log"
        variables = self.variables
        self.server = Server(self.home, url, log, variables, is_embedded=is_embedded)

    def start_worker(
        self,
        *words: str,
        prefix: Sequence[str] = (),
        address: str = "127.0.0.1",
        is_awaited: bool = True,
        **variables: str,
    ) -> str:
        """Start a worker; returns its name."""
        self._started += 1
        name = f"w{self._started}"
        own = environment(
            self.folder / name, self.postgres.url_of(name, address), DRILL_WORKER=name
        )
        command = Command(
            ("worker", "--name", name, *words),
            {**own, **self.variables, **variables},
            self.folder / f"{name}.log",
            prefix,
        )
        self.workers[name] = command
        if is_awaited:
            self.wait_ready(name)
        return name

    def wait_ready(self, *names: str) -> None:
        """Wait until these workers take jobs."""
        for name in names:
            self.workers[name].wait_for_line("is ready")

    def submit(self, agent: str, **options: object) -> str:
        """Start a run through the server; returns its id. Goes on when the server was restarted."""
        run_id = self.create(agent, **options)
        self.execute(run_id)
        return run_id

    def create(self, agent: str, **options: object) -> str:
        """Create a run; returns its id."""
        created = self._patiently("/api/benchmarks/run", {"agent_id": agent, **options})
        return created["run_id"]

    def execute(self, run_id: str) -> None:
        """Start a run that was created."""
        self._patiently(f"/api/benchmarks/run/{run_id}/execute?wait=false")

    def _patiently(self, path: str, body: object = None) -> Any:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return self.server.post(path, body)
            except urllib.error.HTTPError as error:
                if error.code == 409:
                    return {}  # the answer to the first attempt was lost
                if error.code < 500 or time.monotonic() > deadline:
                    raise
            except OSError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.1)

    def cancel(self, run_id: str) -> None:
        """Cancel a run."""
        self._patiently(f"/api/benchmarks/runs/{run_id}/cancel")

    def status(self, run_id: str) -> str:
        """The state of a run."""
        query = "SELECT status FROM agent_benchmark_runs WHERE id = %s"
        return self.postgres.rows(query, run_id)[0][0]

    def seconds_of(self, run_id: str) -> float:
        """How long a run took, by the clock of the database."""
        query = (
            "SELECT extract(epoch FROM completed_at - started_at) "
            "FROM agent_benchmark_runs WHERE id = %s"
        )
        return float(self.postgres.rows(query, run_id)[0][0])

    def holders(self) -> list[str]:
        """The running workers that execute shards now."""
        query = "SELECT DISTINCT worker FROM agent_run_shards WHERE state = 'queued'"
        return [name for (name,) in self.postgres.rows(query) if name in self.workers]

    def kill_worker(self, name: str) -> "Kill":
        """Kill -9 of a worker."""
        query = (
            "SELECT run_id, number, token FROM agent_run_shards "
            "WHERE worker = %s AND state = 'queued'"
        )
        worker = self.workers.pop(name)
        worker.signal(signal.SIGSTOP)  # what it holds must not change between query and kill
        held = {(run, number): token for run, number, token in self.postgres.rows(query, name)}
        at = self.postgres.rows("SELECT clock_timestamp()")[0][0]
        worker.kill()
        return Kill(at=at, held=held)

    def wait(self, run_ids: Sequence[str], seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until these runs have ended."""
        query = (
            "SELECT count(*) FROM agent_benchmark_runs "
            "WHERE id = ANY(%s::uuid[]) AND status IN ('pending', 'running')"
        )

        def is_over() -> bool:
            return self.postgres.rows(query, list(run_ids))[0][0] == 0

        until(is_over, "the runs end", seconds, pause_seconds=0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """The end of a worker."""

    at: datetime
    """By the clock of the database."""
    held: Mapping[tuple[object, int], str]
    """The tokens of the shards that it had."""

    def takeovers(self, cluster: Cluster) -> list[float]:
        """Wait until others have its shards; returns the seconds until then."""
        return [
            seconds
            for (run, number), token in self.held.items()
            if (seconds := self._takeover(cluster, run, number, token)) is not None
        ]

    def _takeover(self, cluster: Cluster, run: object, number: int, token: str) -> float | None:
        query = (
            "SELECT s.taken_at FROM agent_run_shards s"
            " JOIN agent_benchmark_runs r ON r.id = s.run_id WHERE s.run_id = %s AND s.number = %s"
            " AND (s.token IS NULL AND s.state = 'done' OR s.token <> %s OR r.status <> 'running')"
        )
        found = until(
            lambda: cluster.postgres.rows(query, run, number, token),
            f"shard {number} of run {run} is taken over",
            pause_seconds=0.1,
        )
        seconds = (found[0][0] - self.at).total_seconds()
        return seconds if seconds >= 0 else None


def write_agent(home: Path, agent: Agent, url: str) -> None:
    """The files of an agent, and of tests that it passes."""
    for folder in ("agents", "benchmarks"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    limits: dict[str, object] = {"max_concurrency": agent.at_once}
    if agent.per_minute is not None:
        limits["per_minute"] = agent.per_minute
    connector: dict[str, object] = {
        "type": "http",
        "url": url,
        "body": {"id": "{id}", "prompt": "{prompt}"},
        # Filled in by the worker that asks.
        "headers": {"X-Worker": "${DRILL_WORKER}"},
    }
    if agent.is_local:
        # Perl starts in milliseconds, and a line costs less than a call of a Python function.
        sleep = f"select(undef, undef, undef, {agent.seconds}); " if agent.seconds else ""
        code = (
            "$| = 1;\nwhile (my $line = <STDIN>) {\n"
            f'    {sleep}my ($text) = $line =~ /"prompt": *"([^"]*)"/;\n'
            '    print uc($text), "\\n";\n}\n'
        )
        (home / "agents" / f"{agent.name}.pl").write_text(code)
        command = f"perl {agent.name}.pl"
        connector = {"type": "command", "command": command, "persistent": True}
    definition = {
        "id": agent.name,
        "description": "An agent of a drill",
        "connector": connector,
        "limits": limits,
    }
    (home / "agents" / f"{agent.name}.yaml").write_text(yaml.safe_dump(definition))
    tests = [
        {
            "id": f"{agent.name}_{number:05}",
            "name": f"Test {number}",
            **(_by_program(number) if agent.runs_code else _by_words(number)),
            "timeout": agent.timeout_seconds,
            "trials": agent.trials,
            "agents": [agent.name],
        }
        for number in range(1, agent.tests + 1)
    ]
    text = yaml.dump({"category": agent.name, "tests": tests}, Dumper=yaml.CSafeDumper)
    (home / "benchmarks" / f"{agent.name}.yaml").write_text(text)


def _by_words(number: int) -> dict[str, object]:
    return {
        "prompt": f"say word{number}x",
        "expected": {"contains": [f"WORD{number}X"]},
        "case_sensitive": True,
    }


def _by_program(number: int) -> dict[str, object]:
    return {
        "prompt": f"def number(): return {number}",
        "expected": {"entry_points": ["number"], "script": f"assert number() == {number}"},
        "validation": "python",
    }
