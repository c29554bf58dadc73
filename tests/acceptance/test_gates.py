"""Gates against a baseline, and runs compared, with real agents: here and on a server."""

import json
import re
from pathlib import Path
from typing import Any

import junitparser
import pytest

from factories import write_agent, write_tests

STEADY = "return prompt.upper()"
WORSE = "return prompt.upper() if int(prompt[8:]) > 8 else 'no'"
FLAKY = (
    "answer.calls = getattr(answer, 'calls', 0) + 1\n"
    "return prompt.upper() if answer.calls % 2 else 'no'"
)
GATE = ("--baseline", "main", "--fail-on-regression")


def release(shell: Any, body: str, version: str, **keys: object) -> None:
    """A new version of the agent."""
    write_agent(shell.home / "agents", "solver", body, version=version, **keys)


def quarantine(shell: Any, numbers: range) -> None:
    file = shell.home / "benchmarks" / "mine.yaml"
    text = file.read_text()
    for number in numbers:
        test = f"id: mine_{number:05}"
        text = text.replace(test, f"{test}\n  quarantine: 2999-12-31")
    file.write_text(text)


@pytest.fixture
def ready(shell):
    """A home with an agent that passes its twenty tests, and that run as the baseline `main`."""
    write_tests(shell.home / "benchmarks" / "mine.yaml", count=20, agents=["solver", "other"])
    release(shell, STEADY, "1.0.0")
    assert shell.arena("run", "solver").returncode == 0
    done = shell.arena("baseline", "set", "main", "latest")
    assert done.returncode == 0, done.stderr
    return shell


def test_a_run_that_got_worse_exits_with_1_and_lists_what_did(ready, tmp_path: Path):
    release(ready, WORSE, "1.1.0")
    junit, page = tmp_path / "r.xml", tmp_path / "r.md"
    done = ready.arena("run", "solver", *GATE, "--junit", str(junit), "--markdown", str(page))
    assert done.returncode == 1, done.stderr
    assert "compared with main (solver 1.0.0, run " in done.stdout
    assert "Worse than the baseline (8)\n  mine_00001  1/1 → 0/1\n" in done.stdout
    assert "--fail-on-regression missed: 40.0 percentage points below the baseline (" in done.stdout
    (suite,) = junitparser.JUnitXml.fromfile(str(junit))
    properties = {one.name: one.value for one in suite.properties()}
    assert (properties["gate"], properties["baseline"]) == ("missed", "main")
    assert "--fail-on-regression missed: " in properties["gate_reason"]
    assert properties["worse"].startswith("8 (mine_00001, ")
    text = page.read_text()
    assert "**Failed.** 12 of 20 passed. `--fail-on-regression` missed: " in text
    assert "| `mine_00001` | 1/1 → 0/1 |" in text
    # The baseline did not move.
    (baseline,) = ready.json("baseline", "list")["baselines"]
    assert baseline["agent_version"] == "1.0.0"


def test_an_unchanged_agent_meets_every_gate_and_the_json_says_why(ready):
    release(ready, STEADY, "1.1.0")
    done = ready.arena(
        "run", "solver", *GATE, "--fail-on-new-failure", "--fail-under", "90", "--json"
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert (shown["gate"]["passed"], shown["gate"]["minimum"]) == (True, 90)
    options = ["--fail-under 90", "--fail-on-regression", "--fail-on-new-failure"]
    assert [part["option"] for part in shown["gate"]["parts"]] == options
    baseline = shown["baseline"]
    assert (baseline["name"], baseline["baseline"]["agent_version"]) == ("main", "1.0.0")
    assert baseline["regression"]["common_tests"] == 20
    assert baseline["regression"]["worse"] == []


def test_without_a_gate_a_baseline_informs_only(ready):
    release(ready, WORSE, "1.1.0")
    done = ready.arena("run", "solver", "--baseline", "main")
    assert done.returncode == 0, done.stderr
    assert "Worse than the baseline (8)" in done.stdout
    assert "missed" not in done.stdout
    exported = ready.arena("run", "solver", *GATE, "--csv", "-")
    assert exported.returncode == 1
    assert "Worse than the baseline (8)" in exported.stderr
    assert "--fail-on-regression missed: " in exported.stderr


def test_one_new_failure_misses_only_the_stricter_gate(ready):
    release(ready, "return prompt.upper() if prompt != 'say word3' else 'no'", "1.1.0")
    assert ready.arena("run", "solver", *GATE).returncode == 0
    done = ready.arena("run", "solver", "--baseline", "main", "--fail-on-new-failure")
    assert done.returncode == 1
    assert "missed: 1 test always passed in the baseline, and never now" in done.stdout


def test_flaky_tests_are_listed_apart(ready):
    release(ready, FLAKY, "1.0.1", limits={"max_concurrency": 1})
    words = ("run", "solver", "--trials", "3", "--baseline", "main", "--fail-on-new-failure")
    done = ready.arena(*words)
    assert done.returncode == 0, done.stderr
    assert "Flaky: passes in some trials and fails in others (20)" in done.stdout
    assert "Worse than the baseline" not in done.stdout
    assert "1/1 → 1/3" in done.stdout


def test_quarantined_tests_inform_and_do_not_block(ready):
    quarantine(ready, range(1, 9))
    release(ready, WORSE, "1.1.0")
    done = ready.arena("run", "solver", *GATE, "--fail-on-new-failure")
    assert done.returncode == 0, done.stdout
    assert "Quarantined: they inform and do not block (8)\n  mine_00001  1/1 → 0/1" in done.stdout
    assert "12 tests in common" in done.stdout


def test_too_few_tests_cannot_fail_the_gate_and_it_says_so(ready):
    release(ready, "return 'no'", "1.1.0")
    done = ready.arena("run", "solver", "--match", "*_0000[123]", *GATE)
    assert done.returncode == 0
    assert "these 3 tests are too few: THE GATE CANNOT FAIL" in done.stdout
    assert "not compared, only in the baseline: 17 (" in done.stdout


def test_a_suite_that_changed_is_compared_on_the_tests_that_are_the_same(ready):
    file = ready.home / "benchmarks" / "mine.yaml"
    text = file.read_text().replace("say word1\n", "say  word1\n").replace("WORD2", "word2", 1)
    assert text != file.read_text()
    file.write_text(text)
    done = ready.arena("run", "solver", *GATE)
    assert re.search(
        r"the suite changed from \w{12} to \w{12}: 2 edited \(mine_00001, mine_00002\)", done.stdout
    )
    assert "not compared, edited between the runs: 2 (mine_00001, mine_00002)" in done.stdout
    assert "18 tests in common" in done.stdout
    assert done.returncode == 0


@pytest.mark.parametrize("name", ["latest", "RUN", "PREFIX", "solver@1.0.0"])
def test_a_baseline_is_named_by_a_run_or_by_an_agent_version(ready, name: str):
    run_id = ready.json("baseline", "list")["baselines"][0]["run_id"]
    name = {"RUN": run_id, "PREFIX": run_id[:8]}.get(name, name)
    release(ready, WORSE, "1.1.0")
    done = ready.arena("run", "solver", "--baseline", name, "--fail-on-regression", "--json")
    assert done.returncode == 1, done.stderr
    shown = json.loads(done.stdout)
    assert (shown["baseline"]["name"], shown["baseline"]["baseline"]["id"]) == (name, run_id)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--baseline", "mian"), "no baseline is called 'mian'; did you mean 'main'?"),
        (("--baseline", "solver@9.9.9"), "solver@9.9.9 has no run on a board"),
        (("--baseline", "abcdef"), "there is no run whose id begins with 'abcdef'"),
        (("--fail-on-regression",), "--fail-on-regression needs --baseline"),
        (("--fail-on-new-failure",), "--fail-on-new-failure needs --baseline"),
    ],
)
def test_a_wrong_baseline_is_reported_before_a_run_starts(ready, words, message: str):
    done = ready.arena("run", "solver", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(ready.json("runs", "list")["runs"]) == 1


def test_a_baseline_of_another_suite_is_refused_and_nothing_is_executed(ready):
    write_tests(ready.home / "benchmarks" / "else.yaml", count=3, agents=["solo"])
    file = ready.home / "benchmarks" / "else.yaml"
    file.write_text("suite: elsewhere\n" + file.read_text())
    write_agent(ready.home / "agents", "solo", STEADY)
    done = ready.arena("run", "solo", *GATE)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "the baseline 'main' is of the suite custom, and the run is of 'elsewhere'" in done.stderr
    )
    newest = ready.json("runs", "list")["runs"][0]
    assert (newest["status"], newest["completed_tests"]) == ("cancelled", 0)


def test_a_resumed_run_is_compared_too(ready):
    release(ready, WORSE, "1.1.0")
    program = ready.home / "agents" / "solver.py"
    code = program.read_text()
    program.unlink()
    assert ready.arena("run", "solver").returncode == 3
    program.write_text(code)
    done = ready.arena("runs", "resume", "latest", *GATE)
    assert done.returncode == 1, done.stderr
    assert "Worse than the baseline (8)" in done.stdout


def test_gates_baselines_and_comparisons_work_on_a_server(ready):
    release(ready, WORSE, "1.1.0")
    with ready.serving() as client:
        server = ("--server", str(client.base_url))
        done = ready.arena(*server, "run", "solver", *GATE)
        assert done.returncode == 1, done.stderr
        assert "Worse than the baseline (8)" in done.stdout
        assert ready.arena(*server, "baseline", "set", "next", "latest").returncode == 0
        words = ("runs", "compare", "latest", "latest", "--format", "json")
        assert ready.arena(*server, *words).stdout == ready.arena(*words).stdout
        assert ready.arena(*server, "baseline", "remove", "main").returncode == 0
    listed = ready.arena("baseline", "list")
    assert "next" in listed.stdout
    assert "main" not in listed.stdout
    refused = ready.arena("run", "solver", *GATE)
    assert (refused.returncode, refused.stdout) == (2, "")


def test_two_runs_are_compared_in_four_formats(ready, tmp_path: Path):
    first = ready.json("runs", "list")["runs"][0]["id"]
    write_agent(ready.home / "agents", "other", WORSE)
    assert ready.arena("run", "other").returncode == 0
    text = ready.arena("runs", "compare", first, "latest")
    assert text.returncode == 0, text.stderr
    assert "20 tests in common: 100.0 % → 60.0 %, -40.0 percentage points (" in text.stdout
    assert "Worse (8)\n  mine_00001  1/1 → 0/1\n" in text.stdout
    shown = json.loads(ready.arena("runs", "compare", first, "latest", "--format", "json").stdout)
    assert (shown["schema_version"], shown["first"]["id"]) == (1, first)
    assert (shown["significant"], len(shown["worse"]), shown["better"]) == (True, 8, [])
    page = ready.arena("runs", "compare", first, "latest", "--format", "markdown").stdout
    assert page.startswith("## `solver@1.0.0` → `other@1.0.0`\n")
    file = tmp_path / "c.html"
    done = ready.arena(
        "runs", "compare", first[:8], "latest", "--format", "html", "--output", str(file)
    )
    assert (done.returncode, done.stdout) == (0, f"wrote {file}\n")
    html = file.read_text()
    assert html.startswith("<!doctype html>")
    assert "mine_00008" in html
    unknown = ready.arena("runs", "compare", first, "00000000-0000-0000-0000-000000000000")
    assert (unknown.returncode, unknown.stdout) == (2, "")
