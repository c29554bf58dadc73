"""The command line as a user sees it: exit codes, JSON, messages, pipes."""

import json
import re
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import pytest

from arena.cli.main import COMMANDS
from factories import write_agent, write_tests

ROOT = Path(__file__).parents[2]
HEAVY = {"pydantic", "sqlalchemy", "fastapi", "httpx2", "rich", "arena.api", "arena.client"}


@pytest.fixture
def looking(shell, used_home: Path):
    """A user who only reads: the home is shared."""
    return type(shell)(home=used_home)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str]:
    """Folders with the user's own agents and tests."""
    agents, tests = tmp_path / "agents", tmp_path / "tests"
    write_agent(agents, "half", "return prompt.upper() if prompt[-1] in '13' else 'no\\x1b[31m'")
    write_tests(tests / "mine.yaml", count=4, agents=["half"])
    return str(agents), str(tests)


def imported_by(*words: str) -> set[str]:
    """The modules that a command imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "arena", *words], capture_output=True, text=True
    )
    assert done.returncode == 0
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


def test_version_and_help_load_nothing_heavy(looking):
    assert looking.arena("--version").stdout == "arena 0.1.0\n"
    assert looking.arena("--team", "x", "--version").stdout == "arena 0.1.0\n"
    assert not imported_by("--version") & (HEAVY | {"typer"})
    modules = imported_by("--help")
    assert "typer" in modules
    assert not modules & HEAVY
    assert not imported_by("run", "--help") & {"sqlalchemy", "fastapi", "arena.api"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_its_usage_when_it_is_loaded_first(looking, name: str):
    with looking.start(name, "--help") as process:
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert f"Usage: arena {name}" in output or f"Usage: python -m arena {name}" in output


def test_a_run_with_a_gate_has_exit_code_1_and_says_why_tests_failed(shell, folders):
    agents, tests = folders
    words = ("run", "half", "--agents", agents, "--tests", tests)
    met = shell.arena(*words, "--fail-under", "50")
    assert met.returncode == 0, met.stderr
    assert "2 of 4 passed" in met.stdout
    assert '"WORD2" is missing' in met.stdout
    assert "\x1b" not in met.stdout  # an agent cannot control the user's terminal
    assert met.stderr == ""  # no progress bar without a terminal
    missed = shell.arena(*words, "--fail-under", "50.1", "--json")
    assert missed.returncode == 1
    report = json.loads(missed.stdout)
    assert report.keys() >= {"run", "results"}
    assert (report["run"]["passed_tests"], report["run"]["score_percent"]) == (2, 50.0)
    assert len(report["results"]) == 4
    assert {"test_id", "passed", "points_earned", "duration_seconds", "failure_reason"} <= (
        report["results"][0].keys()
    )

    listed = shell.json("runs", "list")
    assert listed["runs"][0]["id"] == report["run"]["id"]
    assert shell.json("runs", "show", report["run"]["id"])["run"] == report["run"]
    page = shell.json("runs", "list", "--limit", "1")
    rest = shell.json("runs", "list", "--limit", "1", "--cursor", page["next_cursor"])
    assert [run["id"] for run in (*page["runs"], *rest["runs"])] == [
        run["id"] for run in listed["runs"]
    ]
    done = shell.arena("runs", "cancel", report["run"]["id"])
    assert (done.returncode, done.stdout) == (2, "")
    assert "is completed, it cannot be cancelled" in done.stderr


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        (("tests", "list"), {"tests", "count"}),
        (("tests", "show", "bench_nav_001"), {"test_id", "input_prompt", "expected_output"}),
        (("tests", "lint"), {"problems", "count"}),
        (("tests", "audit"), {"findings", "tests"}),
        (("agents", "list"), {"agents", "count", "problems"}),
        (("agents", "show", "ai-assistant@1.0.0"), {"id", "version", "applicable_tests"}),
        (("agents", "check", "ai-assistant"), {"answered", "output", "duration_seconds"}),
        (("runs", "list"), {"runs", "count", "next_cursor"}),
        (("leaderboard",), {"leaderboard", "count"}),
    ],
)
def test_every_read_only_command_prints_json(looking, words: tuple[str, ...], keys: set[str]):
    assert looking.json(*words).keys() >= keys


NOWHERE = "00000000-0000-0000-0000-000000000000"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("run", "parot"), 2, "no agent is called 'parot'"),
        (("run", "qa-web-manage"), 2, "did you mean 'qa-web-manager'?"),
        (("run", "qa-web-manager@9.9.9"), 2, "9.9.9"),
        (("run", "qa-web-manager@"), 2, "has no version after the @"),
        (("run", ""), 2, "agent_id"),
        (("run", "qa-web-manager", "--category", "navigaton"), 2, "did you mean 'navigation'?"),
        (("run", "qa-web-manager", "--test", "bench_nav_01"), 2, "did you mean"),
        (
            ("run", "qa-web-manager", "--tests", "/not/there"),
            2,
            "there is no file or folder /not/there",
        ),
        (("run", "qa-web-manager", "--trials", "0"), 2, "--trials"),
        (("runs", "show", "x"), 2, "beginning of a run"),
        (("runs", "show", NOWHERE), 2, f"there is no run {NOWHERE}"),
        (("runs", "resume", NOWHERE), 2, f"there is no run {NOWHERE}"),
        (("runs", "list", "--status", "done"), 2, "pending"),
        (("tests", "show", "bench_nav_01"), 2, "did you mean"),
        (("tests", "lint", "/not/there"), 1, ""),
        (("--server", "http://127.0.0.1:9", "agents", "list"), 3, "no response from http://127"),
        (("--server", "localhost:5109", "agents", "list"), 2, "must be like http://"),
        (("--server", "http://127.0.0.1:9", "run", "x", "--tests", "."), 2, "--server"),
        (("serve", "--host", "0.0.0.0"), 2, "ARENA_TOKENS"),
        (("feedback", "", "--rating", "5"), 2, "agent_id"),
        (("feedback", "parot", "--rating", "6"), 2, "--rating"),
        (("nonsense",), 2, "nonsense"),
    ],
)
def test_a_usage_error_is_one_line_and_an_exit_code(looking, words, code: int, message: str):
    done = looking.arena(*words)
    assert done.returncode == code
    assert message in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 4


def test_invalid_settings_are_reported(shell):
    invalid = type(shell)(
        home=shell.home, variables={"ARENA_DATABASE_URL": "mysql://me:pw1234@h/d"}
    )
    done = invalid.arena("runs", "list")
    assert done.returncode == 2
    assert "postgresql://" in done.stderr
    assert "pw1234" not in done.stderr
    unreachable = type(shell)(
        home=shell.home, variables={"ARENA_DATABASE_URL": "postgresql://me:pw1234@127.0.0.1:9/d"}
    )
    done = unreachable.arena("runs", "list")
    assert done.returncode == 3
    assert done.stderr.startswith("error: the database does not respond")
    assert "Traceback" not in done.stderr
    assert "pw1234" not in done.stderr


BAD = """category: bad
tests:
  - id: one
    nmae: One
    prompt: x
    expected: {contains: [x]}
  - id: two
    name: Two
    prompt: x
    expected: {pattern: "("}
    validation: regex
    timeout: soon
"""


def test_lint_reports_every_problem_of_every_file_at_its_place(looking, tmp_path: Path):
    write_tests(tmp_path / "good.yaml", count=2)
    (tmp_path / "bad.yaml").write_text(BAD)
    (tmp_path / "broken.yml").write_text("tests: [")
    (tmp_path / "latin.yaml").write_bytes(b"category: caf\xe9\n")
    done = looking.arena("tests", "lint", str(tmp_path))
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert f"{tmp_path}/bad.yaml:4:5: " in done.stdout
    for place in ("bad.yaml:10:", "bad.yaml:12:", "broken.yml:", "latin.yaml:"):
        assert any(f"{tmp_path}/{place}" in line for line in lines), place
    assert any("did you mean 'name'" in line for line in lines)
    assert "in 4 files with 2 tests" in lines[-1]
    linted = looking.arena("tests", "lint", str(tmp_path), "--json")
    assert linted.returncode == 1
    problems = json.loads(linted.stdout)["problems"]
    assert {"file", "line", "column", "message"} == problems[0].keys()
    assert len(problems) == len(lines) - 1
    good = looking.arena("tests", "lint", str(tmp_path / "good.yaml"))
    assert (good.returncode, good.stdout) == (0, "0 problems in 1 file with 2 tests\n")


def test_audit_reports_a_test_that_passes_without_an_answer(looking, tmp_path: Path):
    write_tests(tmp_path / "echo.yaml", count=1, expected={"contains": ["word1"]})
    done = looking.arena("tests", "audit", "--tests", str(tmp_path))
    assert done.returncode == 1
    assert "echo_00001" in done.stdout
    assert "1 of 18 tests can be passed without doing anything" in done.stdout


@pytest.mark.parametrize("words", ["tests list", "tests list --json", "tests show bench_nav_001"])
def test_a_reader_that_disconnects_is_no_error(looking, words: str):
    line = f"set -o pipefail; {sys.executable} -m arena {words} | head -1"
    done = subprocess.run(
        ["bash", "-c", line], env=looking.environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_a_problem_in_the_newest_version_is_reported_and_no_older_one_is_run(shell, folders):
    agents, tests = folders
    broken = write_agent(Path(agents), "half", "return ''", version="1.1.0").rename(
        f"{agents}/v2.yaml"
    )
    write_agent(Path(agents), "half", "return prompt.upper()")
    broken.write_text(broken.read_text().replace("callable:", "callabel:"))
    words = ("--agents", agents, "--tests", tests, "--fail-under", "100")
    done = shell.arena("run", "half", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: the newest version of 'half' is unknown" in done.stderr
    named = shell.arena("run", "half@1.0.0", *words)
    assert named.returncode == 0, named.stderr
    assert f"{broken}:2:3: connector: unknown key 'callabel'" in named.stderr
    listed = shell.arena("agents", "list", "--agents", agents)
    assert listed.stderr.count("connector: unknown key 'callabel'") == 1
    with shell.serving("--agents", agents) as client:
        there = shell.arena("--server", str(client.base_url), "agents", "list")
    assert there.stderr.count("connector: unknown key 'callabel'") == 1


def test_the_problems_of_test_files_are_reported_once(shell, folders):
    _, tests = folders
    (Path(tests) / "hard.yaml").write_text("tests: [{id: hard}]\n")
    listed = shell.arena("tests", "list", "--tests", tests)
    assert listed.returncode == 0
    assert listed.stderr.count("hard.yaml:1:9: needs the key 'expected'") == 1
    with shell.serving("--tests", tests) as client:
        there = shell.arena("--server", str(client.base_url), "tests", "list")
    assert there.stderr.count("hard.yaml:1:9: needs the key 'expected'") == 1


def test_a_gate_is_refused_where_a_named_test_file_cannot_be_read(shell, folders):
    agents, tests = folders
    hard = write_tests(Path(tests) / "hard.yaml", count=1, agents=["half"])
    hard.write_text(hard.read_text().replace("tests:", "tests:\n- {id: x, timeout: abc}"))
    words = ("run", "half", "--agents", agents, "--tests", tests)
    gate = shell.arena(*words, "--fail-under", "0")
    assert (gate.returncode, gate.stdout) == (2, "")
    assert f"error: {hard} has problems, so its tests would not count" in gate.stderr
    assert shell.json("runs", "list")["runs"] == []
    assert shell.arena(*words).returncode == 0


def test_an_empty_list_of_tests_suggests_the_reason(looking):
    reasons = {
        ("--category", "navigatio"): "no test is of the category 'navigatio'; did you mean 'navi",
        ("--agent", "nobody"): "no test here is for the agent 'nobody'; known: ai-assistant, ",
    }
    for words, reason in reasons.items():
        done = looking.arena("tests", "list", *words)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "0 tests, 0 points")
        assert reason in done.stderr


def test_a_leaderboard_is_printed_in_one_format_only(looking):
    done = looking.arena("leaderboard", "--json", "--csv")
    assert (done.returncode, done.stderr) == (2, "error: --json and --csv: give one of them\n")


def test_a_program_gets_the_question_that_the_guide_shows(shell, tmp_path: Path):
    guide = (ROOT / "docs/guide/connect-an-agent.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r'^\{"id": .*\}$', guide, re.MULTILINE)
    agents, tests = tmp_path / "agents", tmp_path / "tests"
    agents.mkdir()
    (agents / "cat.yaml").write_text("id: cat\nconnector: {type: command, command: cat}\n")
    write_tests(tests / "one.yaml", count=1, timeout=30)
    words = ("run", "cat", "--agents", str(agents), "--tests", str(tests))
    (result,) = shell.json(*words, "--test", "one_00001")["results"]
    got, example = json.loads(result["actual_output"]["output"]), json.loads(shown)
    assert list(got) == list(example)
    assert got["timeout_seconds"] == example["timeout_seconds"]
    for question, test_id in ((got, "one_00001"), (example, "bench_nav_001")):
        run_id, *rest = question["id"].split(":")
        assert UUID(run_id).version == 4
        assert rest == [test_id, "1"]


def test_a_cut_answer_and_the_tools_an_agent_called_are_shown(shell, tmp_path: Path):
    agents, tests = tmp_path / "agents", tmp_path / "tests"
    body = """
        steps = [{"tool": "look<up>", "arguments": {"word": prompt}, "result": 7}]
        return {"output": "SAY WORD1", "steps": steps, "truncated": True}
    """
    write_agent(agents, "doer", body)
    write_tests(tests / "mine.yaml", count=1, agents=["doer"])
    done = shell.arena("run", "doer", "--agents", str(agents), "--tests", str(tests))
    assert "the answer was cut; called look<up> (claimed by the agent)" in " ".join(
        done.stdout.split()
    )
    run_id = re.search(r"run ([0-9a-f-]{36})", done.stdout)[1]
    (result,) = shell.json("runs", "show", run_id)["results"]
    assert result["actual_output"] == {"output": "SAY WORD1", "truncated": True}
    step = {"tool": "look<up>", "arguments": {"word": "say word1"}, "result": 7, "time": None}
    assert result["steps"] == [step | {"error": None, "source": "agent", "turn": None}]
    assert shell.arena("report", run_id, "--html", str(tmp_path / "report")).returncode == 0
    page = (tmp_path / "report" / "index.html").read_text()
    assert "Cut: the answer was longer" in page
    assert "look&lt;up&gt;" in page
    assert "claimed by the agent" in page
    done = shell.arena("agents", "check", "doer", "--agents", str(agents))
    assert "asked: Hello! What can you do?" in done.stdout
    assert "(the answer was cut)" in done.stdout
    assert "look<up>" in done.stdout
