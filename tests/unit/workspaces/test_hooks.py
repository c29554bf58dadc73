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
        "sitecustomize/__init__.py",
        ".flake8",
        "mypy.ini",
        "eslint.config.mjs",
        "Cargo.toml",
        ".proverc",
        "lib/junit.jar",
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


HIDDEN = ["tests/test_calc.py", "cases.py", "checks/all.py", "data.json", "limits/index.js"]


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("cases/__init__.py", "cases.py"),
        ("tests/test_calc/__init__.py", "tests/test_calc.py"),
        ("calc/__init__.py", "calc.py"),  # given
        ("checks.py", "checks/"),
        ("data.js", "data.json"),
        ("data", "data.json"),
        ("data/index.ts", "data.json"),
        ("limits.js", "limits/index.js"),
    ],
)
def test_a_new_file_that_would_be_loaded_instead_of_another_is_left_out(
    path: str, other: str
) -> None:
    before = {"calc.py": File(content=b"0")}
    result = guarded({**HONEST, path: File(content=b"evil")}, before, ["**"], (), HIDDEN)
    assert result.files == HONEST
    assert f"instead of {other!r}" in result.problems[0]
    kept = guarded({**HONEST, path: File(content=b"work")}, before, ["**", path], (), HIDDEN)
    assert path in kept.files


@pytest.mark.parametrize(
    "path",
    [
        "src/shop/index.js",
        "data.txt",
        "tests/test_more.py",
        "checks/more.py",
        "calculator/__init__.py",
        "src/calc/__init__.py",
        "test_data.json",
        "limits.py",
    ],
)
def test_new_files_of_other_names_are_kept(path: str) -> None:
    before = {"calc.py": File(content=b"0")}
    found = {**HONEST, path: File(content=b"work")}
    assert guarded(found, before, ["**"], (), HIDDEN).files == found


def test_the_package_of_hidden_tests_is_as_it_was_given() -> None:
    before = {"a/__init__.py": File(content=b""), "a/test_old.py": File(content=b"")}
    found = {
        **before,
        "a/__init__.py": File(content=b"evil"),
        "a/json.py": File(content=b"evil"),
        "b/__init__.py": File(content=b"evil"),
    }
    assert guarded(found, before, ["**"], (), ["a/test_a.py", "b/test_b.py"]).files == before


def test_a_package_with_the_code_to_work_on_may_be_changed_though_it_holds_hidden_tests() -> None:
    before = {"shop/__init__.py": File(content=b""), "shop/cart.py": File(content=b"")}
    found = {**before, "shop/__init__.py": File(content=b"work")}
    assert guarded(found, before, ["**"], (), ["shop/test_cart.py"]).files == found
