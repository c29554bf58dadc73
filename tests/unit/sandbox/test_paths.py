import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.sandbox.errors import InvalidPath
from arena.sandbox.paths import checked


@pytest.mark.parametrize("path", ["a", "a/b.txt", "-rf", "a b", "…", "..a", "x" * 255])
def test_plain_relative_paths_pass(path) -> None:
    assert checked(path) == path


@pytest.mark.parametrize(
    "path",
    ["", "/a", "..", "a/..", "a//b", "a/", "./a", "a\0", "a\n", "\udcff", "x" * 256, "a/" * 600],
)
def test_everything_else_is_refused(path) -> None:
    with pytest.raises(InvalidPath):
        checked(path)


@given(st.text())
def test_what_passes_stays_below(path) -> None:
    try:
        parts = checked(path).split("/")
    except InvalidPath:
        return
    assert not {"", ".", ".."} & set(parts)
