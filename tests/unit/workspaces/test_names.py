"""Names of files: what is refused, and what a pattern matches."""

import pytest

from arena.workspaces.names import matches, path_problem, same_name, shown


@pytest.mark.parametrize(
    "path", ["a", "a/b.py", "src/ä.py", "with space/x", "back\\slash", "[id].tsx", "..a", "-rf"]
)
def test_an_ordinary_path_is_allowed(path: str) -> None:
    assert path_problem(path) is None


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/etc/passwd", "absolute"),
        ("../x", "leads out"),
        ("a/../../x", "leads out"),
        ("a//b", "empty part"),
        ("./a", "empty part or '.'"),
        ("", "empty part"),
        ("a/", "empty part"),
        ("a\nb", "line break"),
        ("a\x1b[31m", "control character"),
        ("a\u202eb", "control character"),  # turns the direction of the text
        ("a\u200bb", "invisible"),
        ("a\0b", "control character"),
        ("a\udcff", "not UTF-8"),
        ("x" * 256, "longer than 255"),
        ("x/" * 600 + "x", "longer than 1024"),
    ],
)
def test_a_path_that_could_lead_elsewhere_or_deceive_is_refused(path: str, problem: str) -> None:
    assert problem in str(path_problem(path))
    assert "\n" not in shown(path) and "\x1b" not in shown(path)


@pytest.mark.parametrize(
    ("path", "pattern", "is_match"),
    [
        ("a.py", "*.py", True),
        ("src/a.py", "*.py", False),  # one star stays in its part
        ("src/a.py", "**/*.py", True),
        ("a.py", "**/*.py", True),
        ("src/x/y/a.py", "src/**", True),
        ("src", "src/**", True),
        ("src/a.py", "src/", True),
        ("srcs/a.py", "src/", False),
        ("a/b/c", "a/**/c", True),
        ("a/c", "a/**/c", True),
        ("a/b/d", "a/**/c", False),
        ("anything/at/all", "**", True),
        ("[id].tsx", "[id].tsx", True),  # brackets stand for themselves
        ("i.tsx", "[id].tsx", False),
        ("ab", "a?", True),
        ("a/b", "a?b", False),
        ("a" * 200 + "b", "*a" * 60 + "c", False),  # would take for ever with backtracking
    ],
)
def test_a_pattern_matches_whole_paths(path: str, pattern: str, is_match: bool) -> None:
    assert matches(path, pattern) is is_match


def test_spellings_of_one_name_are_recognised() -> None:
    assert same_name("Tests/TEST_a.py") == same_name("tests/test_A.py")
    assert same_name("caf\u00e9") == same_name("cafe\u0301")
    assert same_name("a") != same_name("b")
