import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.sandbox.arguments import checked_name, checked_path
from arena.sandbox.errors import InvalidPath


@pytest.mark.parametrize("path", ["a", "a/b.txt", "-rf", "a b", "…", "..a", "x" * 255])
def test_plain_relative_paths_pass(path) -> None:
    assert checked_path(path) == path


@pytest.mark.parametrize(
    "path",
    ["", "/a", "..", "a/..", "a//b", "a/", "./a", "a\0", "a\n", "\udcff", "x" * 256, "a/" * 600],
)
def test_everything_else_is_refused(path) -> None:
    with pytest.raises(InvalidPath):
        checked_path(path)


@given(st.text())
def test_what_passes_stays_below(path) -> None:
    try:
        parts = checked_path(path).split("/")
    except InvalidPath:
        return
    assert not {"", ".", ".."} & set(parts)


@pytest.mark.parametrize("name", ["f", "deepMerge", "_x1", "$"])
def test_names_of_functions(name) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize("name", ["", "1a", "a b", "f)", "a.b", "é", "f\n", "x" * 129])
def test_what_is_not_a_name_is_refused(name) -> None:
    with pytest.raises(InvalidInput):
        checked_name(name)
