"""Runs for CI: exports, filters, reruns and quarantined tests, in process and on a server."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import junitparser
import pytest
import xmlschema

from factories import write_agent, write_tests

SCHEMA = xmlschema.XMLSchema(Path(__file__).parents[1] / "fixtures" / "junit.xsd")
HOSTILE = "no]]>\\x1b[31m<b>|`@octocat\\ud800"
NOWHERE = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def ready(shell):
    """A home with an agent that fails two of its four tests."""
    body = f"return prompt.upper() if prompt[-1] in '13' else '=' + {HOSTILE!r}"
    write_agent(shell.home / "agents", "half", body.replace("\\\\", "\\"))
    folder = shell.home / "benchmarks"
    write_tests(folder / "mine.yaml", count=4, agents=["half"])
    return shell


def quarantine(shell: Any, until: str) -> None:
    """Quarantine the second test, which fails."""
    file = shell.home / "benchmarks" / "mine.yaml"
    text = file.read_text().replace("id: mine_00002", f"id: mine_00002\n  quarantine: {until}")
    file.write_text(text)


def cases(path: Path) -> list[Any]:
    SCHEMA.validate(path)
    (suite,) = junitparser.JUnitXml.fromfile(str(path))
    return list(suite)


def test_a_missed_gate_still_writes_every_report(ready, tmp_path: Path):
    names = {"junit": "r.xml", "markdown": "r.md", "csv": "r.csv", "jsonl": "r.jsonl"}
    words = [word for kind, name in names.items() for word in (f"--{kind}", str(tmp_path / name))]
    done = ready.arena("run", "half", "--fail-under", "90", *words)
    assert done.returncode == 1, done.stderr
    assert "missed: the score 50.0 % is below 90 %" in done.stdout
    assert [len(case.result) for case in cases(tmp_path / "r.xml")] == [0, 1, 0, 1]
    assert "**Failed.** 2 of 4 passed." in (tmp_path / "r.md").read_text()
    with (tmp_path / "r.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert all(row["output"].startswith("'=no") for row in rows if row["outcome"] == "failed")
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    shown = ready.json("runs", "show", "latest")
    assert shown["schema_version"] == 1
    assert [line["id"] for line in lines] == [result["id"] for result in shown["results"]]
    assert lines[0].keys() >= shown["results"][0].keys()


def test_a_run_on_a_server_is_exported_like_one_of_this_process(ready, tmp_path: Path):
    quarantine(ready, "2999-12-31")
    with ready.serving() as client:
        server = ("--server", str(client.base_url))
        there = tmp_path / "there.xml"
        done = ready.arena(*server, "run", "half", "--fail-under", "60", "--junit", str(there))
        assert done.returncode == 0, done.stderr + done.stdout
        assert "(1 quarantined test left out)" in done.stdout
        for kind in ("junit", "markdown", "csv", "jsonl", "json"):
            remote = ready.arena(*server, "runs", "export", "latest", "--format", kind)
            assert remote.returncode == 0, remote.stderr
            local = ready.arena("runs", "export", "latest", "--format", kind)
            assert remote.stdout == local.stdout
        again = ready.arena(*server, "run", "half", "--rerun", "failed", "--json")
        assert json.loads(again.stdout)["run"]["total_tests"] == 2
    assert sorted(case.name for case in cases(there)) == [f"mine_0000{n}" for n in (1, 2, 3, 4)]


def test_an_export_goes_to_a_file_or_to_standard_output(ready, tmp_path: Path):
    assert ready.arena("run", "half").returncode == 0
    path = tmp_path / "run.json"
    done = ready.arena("runs", "export", "latest", "--format", "json", "--output", str(path))
    assert (done.returncode, done.stdout) == (0, f"wrote {path}\n")
    printed = ready.arena("runs", "export", "latest", "--format", "json").stdout
    assert path.read_text() == printed == ready.arena("runs", "show", "latest", "--json").stdout
    target = tmp_path / "target.csv"
    target.write_text("old")
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    words = ("runs", "export", "latest", "--format", "csv", "--output")
    assert ready.arena(*words, str(link)).returncode == 0
    assert link.is_symlink()
    assert target.read_text().startswith("run_id,")
    # A device is written to, and not replaced by a file.
    assert ready.arena(*words, os.devnull).returncode == 0
    assert not Path(os.devnull).is_file()


def test_an_export_to_standard_output_replaces_the_table(ready):
    done = ready.arena("run", "half", "--jsonl", "-", "--fail-under", "90")
    assert done.returncode == 1
    assert [json.loads(line)["trial"] for line in done.stdout.splitlines()] == [1, 1, 1, 1]
    assert done.stderr == "--fail-under 90 missed: the score 50.0 % is below 90 %\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "half", "--junit", "/not/there/x.xml"), "there is no folder /not/there"),
        (("run", "half", "--csv", "/tmp"), "/tmp cannot be written: it is a folder"),
        (("run", "half", "--csv", "-", "--json"), "--json and an export to -"),
        (("run", "half", "--csv", "-", "--jsonl", "-"), "two exports go to '-'"),
        (("run", "half", "--csv", "x", "--jsonl", "./x"), "two exports go to './x'"),
        (("run", "half", "--tag", "smoke"), "no tag is called 'smoke'"),
        (("run", "half", "--match", "x*"), "no active test whose id or name matches 'x*'"),
        (("run", "half", "--rerun", "failed"), "half@1.0.0 has no run that has ended"),
        (("run", "half", "--rerun", NOWHERE), f"there is no run {NOWHERE}"),
        (("runs", "resume", "latest", "--junit", "/not/there/x"), "there is no folder /not/there"),
        (("runs", "export", "latest", "--format", "yaml"), "--format"),
        (("runs", "export", "latest", "--format", "csv"), "there is no run yet"),
    ],
)
def test_a_wrong_option_is_reported_before_a_run_starts(ready, words, message: str):
    done = ready.arena(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert ready.json("runs", "list")["runs"] == []


def test_only_what_failed_is_run_again(ready):
    first = ready.json("run", "half")["run"]["id"]
    done = ready.arena("run", "half", "--rerun", "failed", "--json")
    assert done.stderr == f"only the tests that failed in run {first}\n"
    again = json.loads(done.stdout)
    assert {result["test_id"] for result in again["results"]} == {"mine_00002", "mine_00004"}
    write_agent(ready.home / "agents", "half", "return prompt.upper()", version="1.1.0")
    # A new version has no run yet: the run of the old one is named.
    unknown = ready.arena("run", "half", "--rerun", "failed")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "half@1.1.0 has no run that has ended; name a run" in unknown.stderr
    better = ready.json("run", "half", "--rerun", first[:8], "--match", "*_00004")
    assert [result["passed"] for result in better["results"]] == [True]
    nothing = ready.arena("run", "half", "--rerun", "failed")
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert f"nothing failed in run {better['run']['id']}" in nothing.stderr


def test_a_quarantined_test_informs_and_does_not_block(ready, tmp_path: Path):
    quarantine(ready, "{until: 2999-12-31, reason: known}")
    path = tmp_path / "r.xml"
    words = ("run", "half", "--match", "*_0000[123]", "--fail-under", "100")
    done = ready.arena(*words, "--junit", str(path), "--json")
    assert done.returncode == 0, done.stderr
    gate = json.loads(done.stdout)["gate"]
    assert (gate["passed"], gate["score"], gate["quarantined"]) == (True, 100.0, 1)
    (case,) = (case for case in cases(path) if case.result)
    assert case.name == "mine_00002"
    assert case.result[0].message.startswith("quarantined until 2999-12-31 (known); failed: ")
    assert ready.json("tests", "show", "mine_00002")["quarantined_until"] == "2999-12-31"


def test_a_quarantine_that_is_over_blocks_again(ready):
    quarantine(ready, "2001-01-01")
    done = ready.arena("run", "half", "--match", "*_0000[123]", "--fail-under", "100", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["gate"]["quarantined"] == 0
