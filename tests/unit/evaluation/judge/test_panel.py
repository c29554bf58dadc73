"""From votes to a verdict."""

import statistics

from hypothesis import given
from hypothesis import strategies as st

from arena.evaluation.evaluate import weighted_mean
from arena.evaluation.judge.panel import verdict_of
from arena.evaluation.judge.prompt import brief_for
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.verdict import Submission, Verdict, Vote


def verdict(*scores: dict[str, int]) -> Verdict:
    criteria = tuple(scores[0])
    votes = [
        Vote(model="m", number=n, scores=given, reasons=dict.fromkeys(criteria, "so"))
        for n, given in enumerate(scores, start=1)
    ]
    brief = brief_for(
        JudgePrompt(prompt="Is it good?", criteria=criteria),
        Submission(output="x"),
        max_characters=100,
    )
    return verdict_of(brief, votes, judge="", figures=None)


@given(st.lists(st.integers(0, 100), min_size=1, max_size=25))
def test_the_middle_vote_counts_and_of_two_the_lower(scores):
    made = verdict(*({"a": score} for score in scores))
    assert made.score == made.findings[0].score == statistics.median_low(scores)


def test_each_criterion_is_counted_by_itself():
    made = verdict({"a": 10, "b": 90}, {"a": 20, "b": 80}, {"a": 90, "b": 10})
    assert [finding.score for finding in made.findings] == [20, 80]
    assert made.judgement
    assert made.judgement.spread == {"a": 80, "b": 80}


def test_a_total_has_no_rounding_error():
    assert weighted_mean((60, 60, 60), (0.1, 0.2, 0.7)) == 60
    assert weighted_mean((0, 77), (0, 2)) == 77
