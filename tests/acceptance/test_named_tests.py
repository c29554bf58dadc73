"""Tests that are named with --tests: a board of their own, which no other files take over."""

from pathlib import Path

import pytest

from acceptance.conftest import Shell
from factories import write_agent, write_tests


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A user with an agent that passes every test, and one that passes those without a 2."""
    home = tmp_path / "home"
    write_agent(home / "agents", "parrot", "return prompt.upper()")
    write_agent(home / "agents", "deaf", "return prompt.upper().replace('2', '')")
    return Shell(home=home)


def ranks(shell: Shell, *words: str) -> list[tuple[str, int | None]]:
    entries = shell.json("leaderboard", *words)["leaderboard"]
    return [(entry["agent_id"], entry["rank"]) for entry in entries]


def test_another_folder_of_the_same_name_does_not_take_a_board_over(shell: Shell, tmp_path: Path):
    first = write_tests(tmp_path / "one" / "smoke" / "a.yaml", count=10).parent
    second = write_tests(tmp_path / "two" / "smoke" / "a.yaml", count=1).parent
    for agent in ("parrot", "deaf"):
        assert shell.arena("run", agent, "--tests", str(first)).returncode == 0
    done = shell.arena("run", "deaf", "--tests", str(second))
    assert "partial, does not count for the board" in done.stderr
    assert "the suite smoke is known from other files" in done.stderr
    assert ranks(shell) == [("parrot", 1), ("deaf", 2)]
    assert "partial" not in shell.arena("run", "deaf", "--tests", str(first)).stderr
    # Files that say that they are that suite are that suite.
    for file in second.glob("*.yaml"):
        file.write_text("suite: smoke\n" + file.read_text())
    assert "partial" not in shell.arena("run", "deaf", "--tests", str(second)).stderr
    assert ranks(shell) == [("deaf", 1), ("parrot", None)]


def test_one_file_of_a_folder_is_not_the_folder(shell: Shell, tmp_path: Path):
    folder = write_tests(tmp_path / "smoke" / "hard.yaml", count=10).parent
    easy = write_tests(folder / "easy.yaml", count=1)
    for agent in ("parrot", "deaf"):
        shell.arena("run", agent, "--tests", str(folder))
    shell.arena("run", "deaf", "--tests", str(easy))
    assert ranks(shell) == [("parrot", 1), ("deaf", 2)]
    assert ranks(shell, "--suite", "easy") == [("deaf", 1)]


def test_a_file_that_is_left_out_makes_a_run_partial(shell: Shell):
    folder = shell.home / "benchmarks"
    write_tests(folder / "hard.yaml", count=10)
    write_tests(folder / "easy.yaml", count=1)
    for agent in ("parrot", "deaf"):
        shell.arena("run", agent)
    assert ranks(shell) == [("parrot", 1), ("deaf", 2)]
    # It takes an id of the other file, which is then left out altogether.
    taken = write_tests(folder / "a.yaml", count=1)
    taken.write_text(taken.read_text().replace("a_00001", "hard_00002"))
    done = shell.arena("run", "deaf")
    assert "hard.yaml has problems: see arena tests lint" in done.stderr
    assert ranks(shell) == [("parrot", 1), ("deaf", 2)]
