"""The key `solution` of a test."""

from pathlib import Path

import pytest

from arena.catalog.loader import read_source
from arena.catalog.source import Source

HEAD = """tests:
  - id: t1
    name: Sum
    prompt: How much is 6 times 7?
    validation: number
    expected: {value: 42}
"""


def read(folder: Path, solution: str) -> Source:
    path = folder / "tests.yaml"
    path.write_text(HEAD + solution)
    return read_source(path)


def test_a_solution_is_an_answer_or_a_mapping(tmp_path: Path) -> None:
    (short,) = read(tmp_path, "    solution: It is 42.\n").tests
    (long,) = read(tmp_path, "    solution: {answer: It is 42.}\n").tests
    assert short.solution == long.solution == {"answer": "It is 42."}


def test_a_solution_changes_the_test_but_not_what_is_measured(tmp_path: Path) -> None:
    (without,) = read(tmp_path, "").tests
    (with_it,) = read(tmp_path, "    solution: It is 42.\n").tests
    assert without.solution is None
    assert without.fingerprint == with_it.fingerprint
    assert without.digest != with_it.digest


@pytest.mark.parametrize(
    ("solution", "line", "message"),
    [
        ("    solution: 42\n", 7, "solution: must be an answer, or a mapping, is a number"),
        ('    solution: " "\n', 7, "solution: must not be empty"),
        ("    solution: {}\n", 7, "solution: needs one of the keys answer, language, replies"),
        ("    solution:\n      anser: 42\n", 8, "solution: unknown key 'anser'; did you mean"),
        (
            "    solution:\n      steps:\n        - {name: add}\n",
            9,
            "solution.steps[0]: needs the key 'tool'",
        ),
        (
            "    solution:\n      replies: [a]\n      messages: [{role: user, content: a}]\n",
            8,
            "solution: has replies and messages: give one of them",
        ),
    ],
)
def test_a_mistake_in_a_solution_has_a_position(
    tmp_path: Path, solution: str, line: int, message: str
) -> None:
    problems = read(tmp_path, solution).problems
    assert any(one.line == line and one.message.startswith(message) for one in problems), problems
