from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from arena.limits.shares import SLICE_SECONDS, Claim, shares

CLAIMS = st.dictionaries(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("xyzuvw")),
    st.tuples(st.integers(0, 12), st.integers(0, 12), st.floats(0, 30)),
    max_size=16,
).map(
    lambda found: [
        Claim(team=team, holder=holder, held=held, wanted=wanted, seconds=seconds)
        for (team, holder), (held, wanted, seconds) in found.items()
    ]
)
CAPACITY = st.integers(0, 30)


def claim(team: str, holder: str, held: int, wanted: int, seconds: float = 0.0) -> Claim:
    return Claim(team=team, holder=holder, held=held, wanted=wanted, seconds=seconds)


@given(CAPACITY, CLAIMS)
def test_all_that_is_wanted_is_given_and_never_more_than_there_is(
    capacity: int, claims: list[Claim]
):
    given_ = shares(capacity, claims)
    assert sum(given_.values()) == min(capacity, sum(one.wanted for one in claims))
    for one in claims:
        assert 0 <= given_[one.team, one.holder] <= one.wanted


@given(CAPACITY, CLAIMS)
def test_teams_and_the_holders_of_a_team_differ_by_at_most_one(capacity: int, claims: list[Claim]):
    given_ = shares(capacity, claims)
    teams: dict[str, int] = defaultdict(int)
    wanted: dict[str, int] = defaultdict(int)
    for one in claims:
        teams[one.team] += given_[one.team, one.holder]
        wanted[one.team] += one.wanted
    # Whoever wants more has at least as many as any other, but for one.
    hungry = [teams[team] for team in teams if teams[team] < wanted[team]]
    assert not hungry or min(hungry) >= max(teams.values()) - 1
    for team in teams:
        of_team = [(given_[team, one.holder], one.wanted) for one in claims if one.team == team]
        hungry = [count for count, want in of_team if count < want]
        assert not hungry or min(hungry) >= max(count for count, _ in of_team) - 1


@given(CAPACITY, CLAIMS)
def test_the_order_of_the_claims_does_not_matter(capacity: int, claims: list[Claim]):
    assert shares(capacity, claims) == shares(capacity, claims[::-1])


@given(st.integers(1, 6), st.integers(1, 8), st.integers(1, 3))
def test_those_without_a_slot_get_one_in_turn(capacity: int, holders: int, teams: int):
    """Each second every claimant gets its share; after a few rounds all have had a slot."""
    had = {(f"team {team}", f"holder {one}"): 0 for team in range(teams) for one in range(holders)}
    held = dict.fromkeys(had, 0)
    seconds = dict.fromkeys(had, 0.0)
    for _ in range(1 + len(had) * 3):
        claims = [
            claim(team, holder, held[team, holder], 2, seconds[team, holder])
            for team, holder in had
        ]
        for key, count in shares(capacity, claims).items():
            seconds[key] = seconds[key] if bool(count) == bool(held[key]) else 0.0
            seconds[key] += SLICE_SECONDS
            held[key] = count
            had[key] += count
    assert min(had.values()) > 0


def test_a_slot_stays_where_it_is_until_its_slice_is_over():
    waiting = claim("a", "y", 0, 1, 0.9)
    assert shares(1, [claim("a", "x", 1, 3, 0.5), waiting]) == {("a", "x"): 1, ("a", "y"): 0}
    assert shares(1, [claim("a", "x", 1, 3, 1.5), waiting]) == {("a", "x"): 0, ("a", "y"): 1}


def test_the_odd_slot_stays_where_it_is():
    claims = [claim("a", "x", 1, 9, 50.0), claim("a", "y", 2, 9, 50.0)]
    assert shares(3, claims) == {("a", "x"): 1, ("a", "y"): 2}


def test_a_team_with_many_workers_gets_no_more_than_one_with_a_single_worker():
    claims = [claim("a", "x", 0, 9), *(claim("b", holder, 0, 9) for holder in "uvw")]
    given_ = shares(6, claims)
    assert given_["a", "x"] == 3
    assert sum(given_["b", holder] for holder in "uvw") == 3
