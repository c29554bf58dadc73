"""Agents side by side."""

from dataclasses import replace
from decimal import Decimal

import httpx2
import pytest
from sqlalchemy import text

from arena.assembly import Arena
from histories import Voted, Who, a_run, drive

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def compare(api: httpx2.AsyncClient, agents: str) -> dict:
    answer = await api.get("/compare", params={"agents": agents})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_the_one_with_the_higher_overall_score_wins(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    await drive(house, era, [a_run("a", "++-"), a_run("b", "+--")])
    comparison = await compare(api, "b:1.0.0,a:1.0.0")
    assert [(e["agent_id"], e["benchmark_score"]) for e in comparison["comparison"]] == [
        ("b", 33.33),
        ("a", 66.67),
    ]
    assert [(e["rank"], e["rank_low"], e["rank_high"]) for e in comparison["comparison"]] == [
        (2, 1, 2),
        (1, 1, 2),
    ]
    assert (comparison["winner"], comparison["winner_version"]) == ("a", "1.0.0")
    assert comparison["significant"] is False
    (pair,) = comparison["pairs"]
    assert (pair["first"], pair["second"], pair["common_tests"]) == ("b:1.0.0", "a:1.0.0", 3)
    assert pair["difference"] == pytest.approx(-1 / 3)
    assert [test["test_id"] for test in pair["differing"]] == ["t1"]
    assert (pair["differing"][0]["first_passed"], pair["differing"][0]["second_passed"]) == (0, 1)


async def test_a_clear_lead_is_significant(house: Arena, api: httpx2.AsyncClient, era: str):
    await drive(house, era, [a_run("a", "+" * 7 + "+"), a_run("b", "-" * 7 + "+")])
    comparison = await compare(api, "a:1.0.0,b:1.0.0")
    assert comparison["significant"] is True
    # Seven of seven one way: 2 / 2^7.
    assert comparison["pairs"][0]["p_value"] == pytest.approx(2 / 2**7)


async def test_p_values_of_three_agents_are_adjusted_for_three_comparisons(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    await drive(house, era, [a_run("a", "+" * 7), a_run("b", "-" * 7), a_run("c", "-" * 7)])
    comparison = await compare(api, "a:1.0.0,b:1.0.0,c:1.0.0")
    assert [pair["adjusted_p_value"] for pair in comparison["pairs"]] == pytest.approx(
        [3 * 2 / 2**7, 3 * 2 / 2**7, 1.0]
    )
    assert comparison["significant"] is True


async def test_on_a_tie_nobody_wins(house: Arena, api: httpx2.AsyncClient, era: str):
    await drive(house, era, [a_run("a", "+-"), a_run("b", "-+")])
    comparison = await compare(api, "a:1.0.0,b:1.0.0")
    assert (comparison["winner"], comparison["winner_version"], comparison["significant"]) == (
        None,
        None,
        False,
    )
    assert len(comparison["pairs"][0]["differing"]) == 2


async def test_two_versions_of_one_agent_are_distinguished(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    await drive(house, era, [a_run("a", "+-"), a_run("a", "++", version="1.1.0")])
    comparison = await compare(api, "a:1.0.0, a:1.1.0")
    assert (comparison["winner"], comparison["winner_version"]) == ("a", "1.1.0")


async def test_an_unknown_agent_is_listed_as_unknown_and_not_as_zero(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    blue = Voted(
        who=Who(team="blue", agent="parrot", version="1.0.0"), user="u", about=None, rating=5
    )
    await drive(house, era, [a_run("a", "+-"), blue])
    # `nobody` does not exist; this team has no data on `parrot`, even after a recalculation.
    await api.post("/scores/recalculate", params={"agent_id": "parrot", "version": "1.0.0"})
    comparison = await compare(api, "nobody:1.0.0,a:1.0.0,parrot:1.0.0,a:9.9.9")
    assert comparison["unknown"] == ["nobody:1.0.0", "parrot:1.0.0", "a:9.9.9"]
    assert [entry["agent_id"] for entry in comparison["comparison"]] == ["a"]
    assert (comparison["winner"], comparison["pairs"]) == (None, [])


@pytest.mark.parametrize(
    ("agents", "named"),
    [
        ("a:1.0.0,b:1.0.0:extra", "'b:1.0.0:extra'"),
        ("a:1.0.0,b", "'b'"),
        ("a:1.0.0,b:", "'b:'"),
        ("a:1.0.0,:1.0.0", "':1.0.0'"),
        ("a:1.0.0,,b:1.0.0", "''"),
        ("a:1.0.0", "2 to 20"),
        ("", "''"),
        ("a:1.0.0,a:1.0.0", "a:1.0.0"),
        (",".join(f"a:{n}.0.0" for n in range(21)), "not 21"),
    ],
)
async def test_a_malformed_entry_is_named(api: httpx2.AsyncClient, agents: str, named: str):
    answer = await api.get("/compare", params={"agents": agents})
    assert answer.status_code == 422
    assert named in answer.json()["detail"]


async def test_tests_that_only_one_ran_and_tests_that_changed_are_left_out(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    changed = a_run("b", "-+-+")
    tests = (replace(changed.tests[0], points=Decimal(2)), *changed.tests[1:])
    await drive(house, era, [a_run("a", "+++"), replace(changed, tests=tests)])
    (pair,) = (await compare(api, "a:1.0.0,b:1.0.0"))["pairs"]
    assert pair["common_tests"] == 2
    assert (pair["only_first"], pair["only_second"]) == (["t0"], ["t0", "t3"])


async def test_repeated_tests_are_compared_by_how_often_they_passed(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    await drive(house, era, [a_run("a", "++- +++"), a_run("b", "+-- +++")])
    (pair,) = (await compare(api, "a:1.0.0,b:1.0.0"))["pairs"]
    (test,) = pair["differing"]
    assert (test["first_passed"], test["second_passed"], test["first_trials"]) == (2, 1, 3)
    assert pair["difference"] == pytest.approx(1 / 6)


async def test_ranks_are_correct_right_after_sql_has_recalculated_a_score(
    house: Arena, api: httpx2.AsyncClient, era: str, team: str
):
    await drive(house, era, [a_run("a", "+" * 200), a_run("b", "-" * 200)])
    agents = "a:1.0.0,b:1.0.0"
    before = (await compare(api, agents))["comparison"]
    if house.database.dialect == "postgresql":
        function = text("SELECT recalculate_agent_score('a', '1.0.0', :team)")
        async with house.database.writing() as connection:
            await connection.execute(function, {"team": team})
    assert [(e["rank_low"], e["rank_high"]) for e in before] == [(1, 1), (2, 2)]
    assert (await compare(api, agents))["comparison"] == before
