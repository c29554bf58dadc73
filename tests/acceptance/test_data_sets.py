"""Rows of a data set are tests like any other: scores, boards, exports, reruns and pushed runs."""

import dataclasses
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

from acceptance.conftest import Shell
from factories import write_agent

TOKEN = "aaaaaaaaaaaaaaaaaaaa"
ROWS = [
    # name, what is said, group: some rows are alike, some share a group, two fail
    ("one", "alpha", "greek"),
    ("two", "beta", "greek"),
    ("three", "gamma5", "greek"),
    ("four", "delta", ""),
    ("five", "delta", ""),
    ("six", "zeta", ""),
    ("seven", "eta5", ""),
    ("eight", "theta", "late"),
    ("nine", "iota", "late"),
]
AGENT = "return prompt.replace('5', '')"


def with_data(home: Path) -> Shell:
    write_agent(home / "agents", "parrot", AGENT)
    folder = home / "benchmarks"
    folder.mkdir(parents=True)
    lines = [json.dumps({"id": name, "text": said, "kind": kind}) for name, said, kind in ROWS]
    (folder / "words.jsonl").write_text("\n".join(lines) + "\n")
    test = {
        "id": "say",
        "name": "Say {{text}}",
        "dataset": "words.jsonl",
        "prompt": "say {{text}}",
        "expected": {"contains": ["{{text}}"]},
        "group": "{{kind}}",
        "agents": ["parrot"],
    }
    document = {"category": "words", "suite": "words", "tests": [test]}
    (folder / "words.yaml").write_text(yaml.safe_dump(document))
    return Shell(home=home)


def by_hand(home: Path) -> Shell:
    write_agent(home / "agents", "parrot", AGENT)
    tests = [
        {
            "id": f"say_{name}",
            "name": f"Say {said}",
            "prompt": f"say {said}",
            "expected": {"contains": [said]},
            "agents": ["parrot"],
            **({"group": kind} if kind else {}),
        }
        for name, said, kind in ROWS
    ]
    folder = home / "benchmarks"
    folder.mkdir(parents=True)
    document = {"category": "words", "suite": "words", "tests": tests}
    (folder / "words.yaml").write_text(yaml.safe_dump(document))
    return Shell(home=home)


def figures(shell: Shell) -> tuple[Any, Any]:
    """What a run of the agent, and the board after it, say."""
    done = shell.arena("run", "parrot", "--suite", "words")
    assert done.returncode == 0, done.stderr
    run = shell.json("runs", "show", "latest")["run"]
    (entry,) = shell.json("leaderboard", "--suite", "words")["leaderboard"]
    counts = ("total_tests", "passed_tests", "failed_tests", "score_percent", "points_percent")
    # What a run made of itself: its ids, times and hashes.
    other = ("at", "version", "run", "updated", "digest", "duration", "seconds")
    same = {k: v for k, v in entry.items() if not any(part in k for part in other)}
    return [run[name] for name in counts], same


def test_a_run_over_rows_gives_the_numbers_of_the_same_tests_written_by_hand(tmp_path: Path):
    of_data, of_tests = figures(with_data(tmp_path / "a")), figures(by_hand(tmp_path / "b"))
    assert of_data == of_tests
    assert of_data[0][:3] == [9, 7, 2]


def test_a_row_can_be_named_shown_exported_and_run_again(tmp_path: Path):
    shell = with_data(tmp_path / "home")
    report, table = tmp_path / "r.xml", tmp_path / "r.csv"
    shell.arena("run", "parrot", "--suite", "words", "--junit", str(report), "--csv", str(table))
    names = {case.get("name") for case in ElementTree.parse(report).iter("testcase")}
    assert any("say[seven]" in (name or "") for name in names), names
    assert "say[seven]" in table.read_text()
    assert shell.json("tests", "show", "say[six]")["input_prompt"] == "say zeta"
    again = shell.arena("run", "parrot", "--rerun", "failed")
    assert again.returncode == 0, again.stderr
    run = shell.json("runs", "show", "latest")
    assert {one["test_id"] for one in run["results"]} == {"say[three]", "say[seven]"}
    one = shell.arena("run", "parrot", "--test", "say[nine]")
    assert one.returncode == 0, one.stderr
    assert [r["test_id"] for r in shell.json("runs", "show", "latest")["results"]] == ["say[nine]"]


def test_a_run_over_rows_can_be_pushed_and_is_replayed(tmp_path: Path):
    job = dataclasses.replace(with_data(tmp_path / "job"), variables={"ARENA_TOKEN": TOKEN})
    assert job.arena("run", "parrot", "--suite", "words").returncode == 0
    home = tmp_path / "server"
    write_agent(home / "agents", "parrot", AGENT)
    shared = Shell(home=home, variables={"ARENA_TOKENS": f"ci:{TOKEN}"})
    with shared.serving() as client:
        address = str(client.base_url).rstrip("/")
        pushed = job.arena("runs", "push", "latest", "--to", address)
        assert pushed.returncode == 0, pushed.stderr
        assert "9 of 9 verdicts replayed" in pushed.stdout
        headers = {"Authorization": f"Bearer {TOKEN}"}
        (run,) = client.get("/api/benchmarks/runs", headers=headers).json()["runs"]
        query = {"test_id": "say[three]"}
        found = client.get(
            f"/api/benchmarks/runs/{run['id']}/results", params=query, headers=headers
        )
        assert [one["test_id"] for one in found.json()["results"]] == ["say[three]"]
