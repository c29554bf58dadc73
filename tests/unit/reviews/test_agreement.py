import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.reviews.agreement import MIN_COMMON_ITEMS, agreement_of, cohens_kappa


def item(**given: bool) -> dict[str, bool]:
    """The answers to an item, by reviewer."""
    return given


def table(both: int, first: int, second: int, neither: int) -> list[tuple[bool, bool]]:
    return (
        [(True, True)] * both
        + [(True, False)] * first
        + [(False, True)] * second
        + [(False, False)] * neither
    )


@pytest.mark.parametrize(
    ("counts", "kappa"),
    [
        ((20, 5, 10, 15), 0.4),  # the example of every textbook
        ((45, 15, 25, 15), 6 / 46),  # 60 % agreed, of which chance gives 54
        ((5, 0, 0, 5), 1.0),
        ((0, 5, 5, 0), -1.0),
    ],
)
def test_kappa_is_what_the_textbooks_say(counts: tuple[int, int, int, int], kappa: float):
    assert cohens_kappa(table(*counts)) == pytest.approx(kappa)


def test_kappa_says_nothing_where_both_gave_one_answer_throughout():
    assert cohens_kappa(table(9, 0, 0, 0)) is None
    assert cohens_kappa([]) is None


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_kappa_is_symmetric_and_within_its_bounds(pairs: list[tuple[bool, bool]]):
    kappa = cohens_kappa(pairs)
    assert kappa == cohens_kappa([(second, first) for first, second in pairs])
    assert kappa is None or -1 <= kappa <= 1
    if kappa == 1:
        assert all(first == second for first, second in pairs)


def test_only_items_with_two_reviewers_count():
    items = [item(mia=True), item(mia=True, bob=True), item(mia=True, bob=False), item()]
    agreement = agreement_of(items)
    assert (agreement.shared_items, agreement.agreed_items, agreement.share) == (2, 1, 0.5)
    (pair,) = agreement.pairs
    assert (pair.first, pair.second, pair.common, pair.agreed) == ("bob", "mia", 2, 1)
    assert pair.kappa is None


def test_kappa_is_shown_from_enough_common_items_on():
    items = [item(mia=n % 2 == 0, bob=n % 2 == 0) for n in range(MIN_COMMON_ITEMS)]
    assert agreement_of(items).pairs[0].kappa == 1.0
    assert agreement_of(items[1:]).pairs[0].kappa is None


def test_one_dissenter_breaks_the_agreement_of_three():
    agreement = agreement_of([item(mia=True, bob=True, eve=False)])
    assert (agreement.share, len(agreement.pairs)) == (0.0, 3)


def test_without_a_second_reviewer_there_is_nothing_to_agree_on():
    assert agreement_of([item(mia=True)]).share is None
