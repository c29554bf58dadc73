"""The page docs/scoring.md says what Arena computes."""

import doctest
import math
import re
import tomllib
from dataclasses import fields
from decimal import Decimal
from pathlib import Path

import pytest

from arena.scoring.board import BoardEntry, Candidate, rank
from arena.scoring.components import Share, cost_contribution, share_score
from arena.scoring.intervals import Interval
from arena.scoring.scorecard import DEFAULT_WEIGHTS, Evidence, Weights, scorecard

PAGE = Path(__file__).parents[3] / "docs" / "scoring.md"


def test_the_examples_on_the_page_give_what_it_says() -> None:
    results = doctest.testfile(str(PAGE), module_relative=False)
    assert results.attempted > 25
    assert results.failed == 0


def _table_under(heading: str) -> list[list[str]]:
    """The body of the first table after a heading, cell by cell."""
    text = PAGE.read_text(encoding="utf-8").split(f"\n{heading}\n", 1)[1]
    lines = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert lines is not None, f"no table under {heading!r}"
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in lines[0].splitlines()]
    return rows[2:]


def test_the_table_of_weights_shows_the_defaults() -> None:
    weights = DEFAULT_WEIGHTS
    shown = {
        row[0].strip("`").removesuffix("_score"): row[1]
        for row in _table_under("## The four components")
    }
    assert shown == {name: str(getattr(weights, name)) for name in shown}
    assert len(shown) == 4


def test_the_table_of_tokens_is_worked_right() -> None:
    for _, points, budget, tokens, kept in _table_under("### Cost efficiency"):
        result = cost_contribution(
            Decimal(points), Decimal(budget.replace(",", "")), int(tokens.replace(",", ""))
        )
        assert result is not None
        factors, shown = kept.split("=")
        assert result.earned_micropoints == Decimal(shown.strip()) * 1_000_000
        assert math.prod(Decimal(factor) for factor in factors.split("×")) == Decimal(shown.strip())


def test_the_overall_interval_is_worked_right() -> None:
    ratings = Share.of_ratings(5, 22, 100)
    efficiency = Share.of_groups(
        [(1_000_000, 1_000_000), (500_000, 1_000_000), (1_600_000, 2_000_000)]
    )
    card = scorecard(
        Evidence(
            benchmark=Share.of_counts(11, 12),
            user_rating=ratings,
            success_rate=Share.of_counts(45, 50),
            cost_efficiency=efficiency,
        )
    )
    text = PAGE.read_text(encoding="utf-8").split("**The overall score's interval**", 1)[1]
    lines = [line for line in text.splitlines() if line.startswith("|")][2:7]
    rows = {
        cells[0]: cells[1:]
        for line in lines
        if (cells := [c.strip() for c in line.strip("|").split("|")])
    }
    together = [0.0, 0.0]
    for name in ("benchmark", "success rate", "cost efficiency", "user rating"):
        key = name.replace(" ", "_")
        score, interval = card.components.by_name()[key], card.intervals[key]
        weight = float(getattr(DEFAULT_WEIGHTS, key))
        assert score is not None
        below, above = float(score) - interval.low, interval.high - float(score)
        expected = [float(score), below, weight * below, above, weight * above]
        assert [float(cell) for cell in rows[name]] == pytest.approx(expected, abs=0.006), name
        if name != "user rating":
            together = [together[0] + weight * below, together[1] + weight * above]
    shown = [float(cell) for cell in rows["executions together"] if cell]
    assert shown == pytest.approx(together, abs=0.006)


def test_the_table_of_ranks_is_what_rank_gives() -> None:
    entries: list[Candidate] = []
    shown: dict[str, tuple[str, str]] = {}
    for name, score, interval, place, places in _table_under("## Ranks"):
        low, high = interval.split(" to ")
        limits = Interval(low=float(low), high=float(high), method="wilson", confidence=0.95)
        entries.append(Candidate(key=name, score=Decimal(score), interval=limits))
        shown[name] = (place, places)
    computed: dict[str, tuple[str, str]] = {}
    for place in rank(entries):
        low, high = place.rank_low, place.rank_high
        computed[place.candidate.key] = (
            str(place.rank),
            f"{low}" if low == high else f"{low}–{high}",
        )
    assert shown == computed


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("11 ÷ 12 × 100 = **91.67**", share_score(11, 12)),
        ("45 ÷ 50 × 100 = **90.00**", share_score(45, 50)),
        ("(4.4 − 1) × 25 = **85.00**", (Decimal("4.4") - 1) * 25),
        ("0.1275 ÷ 0.01 = 12.75 observations", Decimal("0.85") * Decimal("0.15") / Decimal("0.01")),
        ("√(18.13² + 11.63²) = 21.54", Decimal(str(math.hypot(18.13, 11.63)))),
        ("√(5.81² + 3.72²) = 6.90", Decimal(str(math.hypot(5.81, 3.72)))),
        ("40 + 22.5 + 16 + 7 = **85.50**", Decimal(40) + Decimal("22.50") + 16 + 7),
    ],
)
def test_a_line_worked_by_hand_stands_on_the_page(formula: str, value: Decimal) -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert formula in text
    assert f"{value:.2f}" in formula


def test_every_field_of_the_leaderboard_stands_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", text))
    assert {field.name for field in (*fields(BoardEntry), *fields(Interval))} <= named
    assert "weights" in named


def test_the_weights_on_the_page_can_be_set() -> None:
    text = PAGE.read_text(encoding="utf-8")
    example = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert example is not None
    Weights.from_settings(tomllib.loads(example[1])["weights"])
