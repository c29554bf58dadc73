import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.agents.agent import precedence

OLD_TO_NEW = [
    "0.9.12",
    "1.0.0-alpha",
    "1.0.0-alpha.1",  # more labels are newer
    "1.0.0-alpha.beta",  # words are newer than numbers
    "1.0.0-beta.2",
    "1.0.0-beta.11",  # numbers compare as numbers
    "1.0.0-rc.1",
    "1.0.0",  # a release is newer than its pre-releases
    "1.2.0",
    "1.10.0",
    "10.0.0",
]


@pytest.mark.parametrize(("older", "newer"), list(itertools.combinations(OLD_TO_NEW, 2)))
def test_versions_sort_by_semver(older, newer):
    assert precedence(older) < precedence(newer)


def test_build_metadata_does_not_count():
    assert precedence("1.0.0+a") == precedence("1.0.0+b")


@given(st.tuples(*[st.integers(0, 999)] * 3))
def test_numbers_sort_as_numbers(numbers):
    assert precedence(".".join(map(str, numbers)))[0] == numbers


@pytest.mark.parametrize(
    "text", ["1", "1.0", "01.0.0", "1.0.0-", "1.0.0-01", "v1.0.0", "1.0.0\n", "1.0.0.0", "1.0.٣"]
)
def test_an_invalid_version_is_refused(text):
    with pytest.raises(ValueError, match="not a semantic version"):
        precedence(text)
