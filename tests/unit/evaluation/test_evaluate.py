import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.evaluation import pattern
from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_standard
from arena.evaluation.standard import Standard
from arena.evaluation.verdict import Submission, Verdict
from arena.pools import workers

TEXT = st.text("abc 123", max_size=12)
WORDS = st.lists(st.text("abc", min_size=1, max_size=2), min_size=1, max_size=3)
SIMPLE = st.one_of(
    st.tuples(
        st.sampled_from(["contains", "contains_any", "not_contains"]),
        WORDS.map(lambda words: {"contains": words}),
    ),
    st.tuples(st.just("exact"), st.text("abc", min_size=1, max_size=2).map(lambda t: {"value": t})),
    st.tuples(
        st.just("regex"), st.sampled_from(["a+b", "^c", "[12]"]).map(lambda p: {"pattern": p})
    ),
    st.tuples(st.just("number"), st.integers(0, 5).map(lambda n: {"value": n})),
)
BODIES = st.recursive(
    SIMPLE,
    lambda inner: st.sampled_from(["all_of", "any_of"]).flatmap(
        lambda kind: st.lists(inner, min_size=1, max_size=3).map(
            lambda parts: (
                kind,
                {kind: [{"validation": name, "expected": body} for name, body in parts]},
            )
        )
    ),
    max_leaves=5,
)


def judge(standard: Standard, output: str) -> Verdict:
    return asyncio.run(evaluate(standard, Submission(output=output)))


@given(BODIES, TEXT)
def test_the_same_two_always_give_the_same_verdict(
    body: tuple[str, dict[str, object]], text: str
) -> None:
    first = judge(read_standard(*body), text)
    assert judge(read_standard(*body), text) == first
    assert 0 <= first.score <= 100
    assert first.passed is False or first.score == 100
    assert first.reasoning
    assert first.findings


@given(st.lists(SIMPLE, min_size=1, max_size=4), TEXT)
def test_composites_agree_with_their_parts(
    bodies: list[tuple[str, dict[str, object]]], text: str
) -> None:
    parts = [{"validation": name, "expected": body} for name, body in bodies]
    alone = [judge(read_standard(name, body), text) for name, body in bodies]
    every = judge(read_standard("all_of", {"all_of": parts}), text)
    some = judge(read_standard("any_of", {"any_of": parts}), text)
    assert every.passed is all(verdict.passed for verdict in alone)
    assert some.passed is any(verdict.passed for verdict in alone)
    assert some.score == max(verdict.score for verdict in alone)
    assert every.score == pytest.approx(sum(verdict.score for verdict in alone) / len(alone))
    assert every.findings == some.findings == tuple(f for v in alone for f in v.findings)


def test_weights_share_out_the_score_of_all_of() -> None:
    parts = [
        {"expected": {"contains": ["a"]}, "weight": 3},
        {"expected": {"contains": ["b"]}, "weight": 1},
    ]
    verdict = judge(read_standard("all_of", {"all_of": parts}), "only a")
    assert (verdict.score, verdict.passed) == (75.0, False)


def test_a_failed_verdict_names_the_missing_keyword_and_what_was_read() -> None:
    verdict = judge(read_standard("contains", {"contains": ["x", "home"]}), "at  home")
    assert verdict.reasoning == '"x" is missing (read: "at home")'


def test_an_empty_answer_is_called_empty() -> None:
    verdict = judge(read_standard("contains", {"contains": ["x"]}), " \n")
    assert verdict.reasoning == '"x" is missing (read: an empty answer)'


def test_a_passed_verdict_says_what_decided_it() -> None:
    verdict = judge(read_standard("contains_any", {"contains": ["x", "y"]}), "y")
    assert (verdict.score, verdict.reasoning) == (100.0, 'has "y"')


ALTERNATIVES = {
    "any_of": [
        {"expected": {"contains": ["gift card", "REQ-8"]}},
        {"expected": {"contains": ["title", "REQ-3"]}},
        {"expected": {"contains": ["network", "REQ-11"]}},
    ]
}


def test_of_alternatives_that_all_fail_only_the_nearest_is_reported() -> None:
    verdict = judge(read_standard("any_of", ALTERNATIVES), "the title")
    expected = 'none of 3 alternatives fits; the nearest: "REQ-3" is missing (read: "the title")'
    assert verdict.reasoning == expected
    assert len(verdict.findings) == 6


def test_of_alternatives_the_one_that_fits_is_reported() -> None:
    verdict = judge(read_standard("any_of", ALTERNATIVES), "network for REQ-11 and REQ-3")
    assert verdict.reasoning == 'has "network"; has "REQ-11"'


def test_a_part_of_a_part_does_not_repeat_what_was_read() -> None:
    parts = [{"validation": "any_of", "expected": ALTERNATIVES}, {"expected": {"contains": ["x"]}}]
    verdict = judge(read_standard("all_of", {"all_of": parts}), "REQ-8")
    assert verdict.reasoning.count("(read: ") == 1
    assert verdict.reasoning.endswith('"gift card" is missing; "x" is missing (read: "REQ-8")')


async def test_other_work_continues_while_a_pattern_searches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pattern, "PATTERN_SECONDS", 0.5)
    schema = read_standard("json_schema", {"schema": {"pattern": "(a|aa)+$"}})
    plain = read_standard("regex", {"pattern": "(a|aa)+$"})
    for standard, answer in ((plain, "a" * 5000 + "!"), (schema, f'"{"a" * 5000}!"')):
        judging = asyncio.create_task(evaluate(standard, Submission(output=answer)))
        turns = 0
        while not judging.done():
            await asyncio.sleep(0.01)
            turns += 1
        assert not (await judging).passed
        # Turns, not seconds: a search on the loop would leave one or two on any machine.
        assert turns > 4


async def test_a_check_without_end_fails_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "CPU_SECONDS", 1)
    # Here the library searches for the pattern itself, without a limit.
    schema = {"unevaluatedProperties": False, "patternProperties": {"^(a+)+$": {}}}
    standard = read_standard("json_schema", {"schema": schema})
    verdict = await evaluate(standard, Submission(output='{"' + "a" * 40 + '!": 1}'))
    assert (verdict.score, verdict.passed) == (0, False)
    assert "checking the answer took longer than 1 s of processor time" in verdict.reasoning


@pytest.mark.parametrize("weight", [0.1, 0.7, 1 / 3])
def test_float_rounding_does_not_cost_a_pass(weight: float):
    part = {
        "validation": "all_of",
        "expected": {
            "all_of": [
                {"validation": "exact", "expected": {"value": "a"}, "weight": 3},
                {"validation": "exact", "expected": {"value": "b"}, "weight": 2},
            ],
            "pass_score": 60,
        },
        "weight": weight,
    }
    verdict = judge(read_standard("all_of", {"all_of": [part] * 3}, pass_score=60), "a")
    assert (verdict.score, verdict.passed) == (60, True)
