"""Scripts of graders in files beside the tests."""

from pathlib import Path

import pytest

from arena.catalog.loader import read_source
from arena.catalog.source import Source

GRADER = "def grade(submission):\n    return submission.output == 'x'\n"


def load(folder: Path, expected: str, validation: str = "python") -> Source:
    lines = "".join(f"      {line}\n" for line in expected.splitlines())
    (folder / "own.yaml").write_text(
        f"tests:\n  - id: a\n    name: a\n    prompt: p\n    validation: {validation}\n"
        f"    expected:\n{lines}"
    )
    return read_source(folder / "own.yaml")


def test_a_script_in_a_file_becomes_part_of_the_test(tmp_path: Path) -> None:
    (tmp_path / "graders").mkdir()
    (tmp_path / "graders/own.py").write_text(GRADER)
    (test,) = load(tmp_path, "file: graders/own.py").tests
    assert test.expected == {"script": GRADER}


def test_a_part_of_a_composite_may_name_a_file(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(GRADER)
    typed = "{validation: python, expected: {file: own.py}}", "{type: python, file: own.py}"
    parts = "".join(["all_of:\n", *(f"  - {one}\n" for one in typed)])
    (test,) = load(tmp_path, parts, "all_of").tests
    first, second = test.expected["all_of"]
    assert first["expected"]["script"] == second["script"] == GRADER


def test_a_changed_script_is_a_changed_file(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(GRADER)
    before = load(tmp_path, "file: own.py")
    (tmp_path / "own.py").write_text(GRADER.replace("x", "y"))
    after = load(tmp_path, "file: own.py")
    assert before.content_digest != after.content_digest
    assert before.tests[0].digest != after.tests[0].digest


@pytest.mark.parametrize(
    ("expected", "problem"),
    [
        ("file: missing.py", "expected.file: cannot be read: No such file or directory"),
        ("file: /etc/hostname", "expected.file: must be relative to the test file"),
        ("file: [a]", "expected.file: must be the path of a script, is a list"),
        ("file: own.yaml\nscript: x", "expected.file: give either a script or the file of one"),
        ("script: 'assert f()'\nentry_points: ['a b']", "expected.entry_points[0]: function name"),
        ("script: 'assert f()'\nlanguage: python", "expected.language: says nothing without"),
        ("script: 'assert 1'\nlanguage: rust\nentry_points: [f]", "not 'rust'"),
        ("script: 'assert 1'\nclasses: [F]\nentry_points: [F]", "'F' is in entry_points too"),
        ("entry_point: f\nscript: x", "entry_point"),
        ("entry_points: [f]", "script"),
    ],
)
def test_a_fault_has_its_position(tmp_path: Path, expected: str, problem: str) -> None:
    source = load(tmp_path, expected)
    assert problem in str(source.problems[0])
    assert source.problems[0].line >= 6


def test_only_one_problem_is_reported_for_a_missing_file(tmp_path: Path) -> None:
    assert len(load(tmp_path, "file: missing.py").problems) == 1
