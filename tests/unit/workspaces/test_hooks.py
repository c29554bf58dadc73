"""Planted hooks: left out or restored, unless the test gave or names them."""

import pytest

from arena.workspaces.collected import File
from arena.workspaces.hooks import guarded, is_hook

HONEST = {
    "src/shop/__init__.py": File(content=b""),
    "src/shop/types.py": File(content=b"1"),
    "calc.py": File(content=b"2"),
}


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "tests/conftest.py",
        "CONFTEST.PY",
        "sitecustomize.py",
        "usercustomize.py",
        "x.pth",
        ".local/lib/python3.11/site-packages/evil.py",
        "__pycache__/calc.cpython-311.pyc",
        "calc.pyc",
        "evil-1.0.dist-info/entry_points.txt",
        "evil.egg-info/entry_points.txt",
        "pytest.ini",
        "tox.ini",
        "setup.cfg",
        "pyproject.toml",
        ".git/hooks/pre-commit",
        ".git/config",
        "calc.so",
        "libevil.so.1",
        "Makefile",
        "package.json",
        "node_modules/jest/index.js",
        "jest.config.js",
        "pkg/main_test.go",
        "build.rs",
    ],
)
def test_a_planted_hook_is_left_out_and_reported(path: str) -> None:
    result = guarded(
        {**HONEST, path: File(content=b"evil")}, {"calc.py": File(content=b"0")}, ["**"]
    )
    assert result.files == HONEST
    assert len(result.problems) == 1 and path in result.problems[0]
    assert is_hook(path)


@pytest.mark.parametrize(
    "path", ["unittest.py", "pytest/__init__.py", "tests/json.py", "pytest.py", "random.py"]
)
def test_a_module_that_shadows_the_standard_library_or_the_runner_is_left_out(path: str) -> None:
    result = guarded({**HONEST, path: File(content=b"evil")}, {}, ["**"])
    assert result.files == HONEST and path in result.problems[0]


def test_a_changed_or_deleted_hook_is_restored() -> None:
    before = {
        "conftest.py": File(content=b"given"),
        "tox.ini": File(content=b"given"),
        "calc.py": File(content=b"0"),
    }
    result = guarded(
        {"conftest.py": File(content=b"evil"), "calc.py": File(content=b"1")}, before, ["**"]
    )
    assert result.files == {**before, "calc.py": File(content=b"1")}
    assert [problem.partition(":")[0] for problem in result.problems] == ["restored"] * 2


def test_what_collect_names_literally_or_the_test_gave_unchanged_stays() -> None:
    before = {"conftest.py": File(content=b"given")}
    found = {"conftest.py": File(content=b"given"), "pyproject.toml": File(content=b"asked for")}
    assert guarded(found, before, ["**", "pyproject.toml"]).files == found


def test_a_script_that_the_verification_runs_is_restored() -> None:
    before = {"check.sh": File(content=b"given"), "calc.py": File(content=b"0")}
    found = {"check.sh": File(content=b"exit 0"), "calc.py": File(content=b"1")}
    assert guarded(found, before, ["**"], ["check.sh"]).files["check.sh"] == File(content=b"given")
    assert guarded(found, before, ["check.sh"], ["check.sh"]).files["check.sh"] == File(
        content=b"exit 0"
    )


def test_another_spelling_of_a_given_file_is_left_out() -> None:
    before = {"Calc.py": File(content=b"0")}
    result = guarded({"Calc.py": File(content=b"1"), "calc.PY": File(content=b"2")}, before, ["**"])
    assert result.files == {"Calc.py": File(content=b"1")}
