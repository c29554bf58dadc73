"""Conversations on the command line: the example, as its README says."""

from pathlib import Path

import pytest

from acceptance.conftest import Shell

EXAMPLE = Path(__file__).parents[2] / "examples" / "conversation"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(home=tmp_path / "home")


def run(shell: Shell, folder: str, category: str, *words: str):
    tests = str(EXAMPLE / folder)
    options = ("--agents", str(EXAMPLE), "--tests", tests, "--category", category)
    return shell.arena("run", "waiter", *options, *words)


def test_the_scripted_example_passes_and_is_shown_as_one_conversation(shell: Shell, tmp_path: Path):
    csv, junit = tmp_path / "r.csv", tmp_path / "r.xml"
    done = run(shell, "tests", "booking", "--csv", str(csv), "--junit", str(junit))
    assert done.returncode == 0, done.stderr
    assert "2 of 2 passed" in done.stdout
    assert "3 turns" in done.stdout
    shown = shell.arena("runs", "show", "latest", "--test", "book_in_three_turns").stdout
    assert "2 user: On Friday, please.\n2 agent: Friday is fine. For how many guests?" in shown
    assert 'tool: book_table {"day": "Friday", "guests": 4} → "booked" (claimed' in shown
    (found,) = shell.json("runs", "show", "latest", "--test", "book_in_three_turns")["results"]
    assert [one["role"] for one in found["result"]["messages"]] == ["user", "assistant"] * 3
    assert csv.read_text().splitlines()[0].endswith("output,steps,turns")


def test_a_test_with_turns_is_shown_by_its_turns(shell: Shell):
    tests = str(EXAMPLE / "tests")
    shown = shell.arena("tests", "show", "book_at_once", "--tests", tests).stdout
    assert "1. A table for 2 on Sunday, please." in shown
    assert "2. Thank you!" in shown


def test_a_failed_conversation_is_in_the_junit_file(shell: Shell, tmp_path: Path):
    file, junit = tmp_path / "t.yaml", tmp_path / "r.xml"
    file.write_text(
        "category: c\ntests:\n  - {id: t, name: T, turns: [Hi, Friday],"
        " expected: {contains: [pizza]}}\n"
    )
    shell.arena(
        "run", "waiter", "--agents", str(EXAMPLE), "--tests", str(file), "--junit", str(junit)
    )
    text = junit.read_text()
    assert "conversation:\n1 user: Hi\n1 agent: With pleasure." in text


def test_a_simulated_user_that_is_not_set_up_is_refused_with_a_remedy(shell: Shell):
    done = run(shell, "simulated", "simulated booking")
    assert done.returncode == 2
    assert "set ARENA_USER_BASE_URL and ARENA_USER_MODEL" in done.stderr
