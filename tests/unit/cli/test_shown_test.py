"""`arena tests show` prints what a test has, and files only by name and size."""

from arena.cli import output
from arena.cli.shown_test import shown_test
from arena.cli.tables import in_words
from factories import a_test


def test_files_are_shown_by_name_and_size() -> None:
    test = a_test(
        validation="verify",
        expected={"command": "true", "hidden": {"check.py": {"text": "äb", "executable": True}}},
        workspace={"files": {"a.txt": "secret", "b.bin": {"base64": "AAEC"}}, "setup": "make"},
        solution={"files": {"a.txt": "secret too"}},
    )
    shown = {key: in_words(value) for key, value in shown_test(output.jsonable(test)).items()}
    assert "check.py (3 bytes)" in shown["expected_output"]
    assert "a.txt (6 bytes)" in shown["workspace"]
    assert "b.bin (3 bytes)" in shown["workspace"]
    assert "setup: make" in shown["workspace"]
    assert "a.txt (10 bytes)" in shown["solution"]
    assert "secret" not in str(shown)


def test_turns_are_numbered_and_a_short_solution_is_its_answer() -> None:
    test = a_test(turns=("First?", "Second?"), solution={"answer": "yes"})
    shown = shown_test(output.jsonable(test))
    assert shown["turns"] == "1. First?\n2. Second?"
    assert shown["solution"] == "yes"
    assert "input_prompt" not in shown


def test_a_tool_is_a_line() -> None:
    tools = (
        {"name": "search", "description": "finds", "recorded": [{}, {}]},
        {"name": "buy", "answer": 1, "fault": {"kind": "timeout", "calls": [1]}},
        {"name": "sell", "fault": "error"},
    )
    shown = shown_test(output.jsonable(a_test(tools=tools)))
    assert shown["tools"] == (
        "search: finds (2 recorded)\n"
        "buy (a fixed answer, fails with timeout)\n"
        "sell (fails with error)"
    )


def test_keys_without_a_value_are_left_out() -> None:
    part = {"validation": "contains", "expected": {"contains": ["x"]}}
    test = a_test(validation="all_of", expected={"all_of": [part], "pass_score": None})
    assert shown_test(output.jsonable(test))["expected_output"] == {"all_of": [part]}
