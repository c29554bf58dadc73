"""Tests selected by tag and by pattern."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.catalog.selection import check_tags, described, selected
from arena.errors import NotFound
from factories import a_test

TESTS = (
    a_test(id="nav_001", name="Open the home page", tags=("smoke", "web")),
    a_test(id="nav_002", name="Log in", tags=("web",)),
    a_test(id="api_001", name="Log out"),
)


@pytest.mark.parametrize(
    ("tags", "match", "ids"),
    [
        ((), (), ["nav_001", "nav_002", "api_001"]),
        (("smoke",), (), ["nav_001"]),
        (("smoke", "web"), (), ["nav_001", "nav_002"]),  # one of them
        ((), ("nav_*",), ["nav_001", "nav_002"]),
        ((), ("*_001",), ["nav_001", "api_001"]),
        ((), ("log*",), ["nav_002", "api_001"]),  # the name, in any case
        ((), ("nav_00[12]", "log out"), ["nav_001", "nav_002", "api_001"]),
        ((), ("nav",), []),  # the whole id or name
        (("web",), ("log*",), ["nav_002"]),  # both
    ],
)
def test_filters_are_combined(tags: tuple[str, ...], match: tuple[str, ...], ids: list[str]):
    assert [test.id for test in selected(TESTS, tags=tags, match=match)] == ids


def test_a_tag_that_no_test_has_is_an_error():
    check_tags(("web",), TESTS)
    with pytest.raises(NotFound, match="did you mean 'smoke'"):
        check_tags(("smok",), TESTS)


def test_a_selection_is_described():
    assert described() == ""
    assert described(category="nav", tags=("a", "b"), match=("x*",)) == (
        " in category 'nav' with the tag 'a' or 'b' whose id or name matches 'x*'"
    )


@given(st.text(st.sampled_from("[]!^-*?a&|~:.=\\ ") | st.characters(), max_size=30))
def test_any_pattern_is_read(pattern: str):
    selected(TESTS, match=(pattern,))


def test_many_stars_do_not_match_a_text_without_the_rest():
    assert selected((a_test(name="a" * 200),), match=("a*" * 99 + "b",)) == ()
