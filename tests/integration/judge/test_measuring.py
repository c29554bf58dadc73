"""A judge is measured: against people, against itself, against injections."""

import json
from dataclasses import replace

import pytest

from arena.content.store import LocalStore
from arena.errors import InvalidInput
from arena.evaluation.judge.corpus import twins
from arena.evaluation.judge.labels import read_labels
from arena.evaluation.judge.measure import attack, calibrate
from arena.evaluation.record import keep_record, read_record
from arena.evaluation.resources import JudgeError
from arena.evaluation.verdict import Submission
from judging import STANDARD, completion, said

DOCUMENT = {
    "type": "judge_prompt",
    "prompt": "Is it good?",
    "criteria": ["correctness", "style"],
    "weights": [3, 1],
}


def submission_in(request) -> str:
    """The submission in a request, as the model sees it."""
    return request.json["messages"][1]["content"].partition("\n")[2].rpartition("\n")[0]


def reads_scores(*offsets: int):
    """A judge that gives the numbers written in the submission, moved by each offset in turn."""
    calls = 0

    async def reply(request, writer):
        nonlocal calls
        moved = offsets[calls % len(offsets)]
        calls += 1
        numbers = [int(word) + moved for word in submission_in(request).split()]
        return completion({f"c{n}": said(score=score) for n, score in enumerate(numbers, 1)})

    return reply


@pytest.fixture
def labels(tmp_path):
    def write(*rows: object):
        path = tmp_path / "labels.jsonl"
        lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        path.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
        return path

    return write


def row(first: int, second: int, **changes: object) -> dict[str, object]:
    scores = {"correctness": first, "style": second}
    return {
        "standard": DOCUMENT,
        "submission": f"{first} {second}",
        "labels": scores,
    } | changes


async def test_a_judge_that_agrees_is_measured_as_perfect(judge, endpoint, labels):
    endpoint.follow(reads_scores(0))
    read = read_labels(labels(row(10, 20), row(50, 90), row(80, 40)))
    done: list[int] = []
    made = await calibrate(judge, read, repeats=2, on_progress=done.append)
    assert (made.figures.kappa.value, made.figures.mean_error.value) == (1, 0)
    assert (made.figures.bias.value, made.figures.spread.value) == (0, 0)
    assert made.figures.flips.value == 0
    assert made.figures.flips.high > 0.5  # three items say little, so the interval is wide
    assert [one.name for one in made.criteria] == ["correctness", "style"]
    assert (made.input_tokens, made.output_tokens) == (6000, 600)
    assert made.cost_usd == pytest.approx(6 * 0.00021)
    assert done == [1, 2, 3, 4, 5, 6]
    assert len(endpoint.requests) == 6  # nothing from the cache


async def test_a_generous_and_unsteady_judge_is_found_out(judge_with, endpoint, labels):
    judge = judge_with(judge_concurrency=1)
    endpoint.follow(reads_scores(10, -10))
    rows = [row(55, 55), row(20, 20), row(90, 90), row(58, 58)]
    made = await calibrate(judge, read_labels(labels(*rows)), repeats=2)
    figures = made.figures
    assert figures.bias.value == 10
    assert figures.mean_error.value == 10
    assert figures.spread.value == 20
    assert figures.flips.value == 0.5  # 55 and 58 lie within ten points of the threshold
    assert figures.kappa.value < 1


async def test_a_score_for_the_whole_is_enough(judge, endpoint, labels):
    endpoint.follow(reads_scores(0))
    whole = row(40, 80)
    del whole["labels"]
    made = await calibrate(judge, read_labels(labels(whole | {"score": 50}, row(1, 1))), repeats=2)
    assert [one.items for one in made.criteria] == [1, 1]
    assert made.figures.items == 2
    assert made.figures.bias.value == 0


async def test_verdicts_of_a_measured_judge_say_so_and_records_keep_it(
    judge_with, endpoint, labels, tmp_path
):
    endpoint.follow(reads_scores(0))
    made = await calibrate(judge_with(), read_labels(labels(row(10, 20), row(50, 90))), repeats=2)
    verdict = await judge_with().judge(
        replace(STANDARD, criteria=("a", "b"), weights=(1, 1)), Submission(output="1 2")
    )
    assert verdict.judgement.figures == made.figures
    assert verdict.judgement.judge == made.judge
    store = LocalStore(tmp_path / "content")
    cid = keep_record(store, DOCUMENT, Submission(output="1 2"), verdict)
    assert read_record(store.get(cid)).verdict.judgement == verdict.judgement
    other = judge_with(judge_votes=2)
    verdict = await other.judge(
        replace(STANDARD, criteria=("a", "b"), weights=(1, 1)), Submission(output="1 2")
    )
    assert verdict.judgement.figures is None  # figures of one judge are not those of another


async def test_a_judge_that_fails_gets_no_figures(judge, endpoint, labels, tmp_path):
    endpoint.follow((404, {}))
    with pytest.raises(JudgeError):
        await calibrate(judge, read_labels(labels(row(1, 2), row(3, 4))))
    assert not (tmp_path / "home/judge/figures").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not JSON"),
        ("[1]", "must be a mapping, is a list"),
        ("\udcff", "is not UTF-8"),
        ("[" * 100_000, "is not JSON"),
        (row(1, 2) | {"extra": 1}, "unknown key 'extra'"),
        (row(1, 2) | {"submission": 5}, "submission: must be a string, is a number"),
        (row(1, 2) | {"standard": None}, "standard: "),
        (row(1, 2) | {"standard": {"type": "judge_prompt"}}, "needs the key 'prompt'"),
        (row(1, 2) | {"standard": {"type": "checklist", "items": ["a"]}}, "type judge_prompt"),
        (row(1, 2) | {"standard": "nowhere.json"}, "cannot be read"),
        (row(1, 2) | {"score": 5}, "either 'labels'"),
        ({"standard": DOCUMENT, "submission": "x"}, "either 'labels'"),
        (row(1, 2) | {"labels": [1]}, "labels: must be a mapping"),
        (row(1, 2) | {"labels": {"correctness": 1}}, "'style' has no score"),
        (row(1, 2) | {"labels": {"corectness": 1, "style": 1}}, "did you mean 'correctness'"),
        (row(101, 2), "labels.correctness: must be at most 100, is 101"),
        (row(float("nan"), 2) | {"submission": ""}, "labels.correctness: must be a finite number"),
        (row(True, 2), "must be a number, is true or false"),
        (row("7", 2), "must be a number, is a string"),
    ],
)
def test_a_bad_label_is_reported_with_its_line(labels, line, message):
    path = labels(row(1, 2), "", line, row(3, 4))
    with pytest.raises(InvalidInput) as caught:
        read_labels(path)
    assert f"{path}:3: " in caught.value.message
    assert message in caught.value.message


def test_labels_must_exist(labels, tmp_path):
    with pytest.raises(InvalidInput, match="is empty"):
        read_labels(labels("", " "))
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_labels(tmp_path / "nowhere.jsonl")
    with pytest.raises(InvalidInput, match="and 5 more"):
        read_labels(labels(*["?"] * 25))


def test_a_standard_may_be_in_a_file_beside_the_labels(labels, tmp_path):
    (tmp_path / "standard.json").write_text(json.dumps(DOCUMENT))
    [label] = read_labels(labels(row(1, 2) | {"standard": "standard.json"}))
    assert label.standard.criteria == ("correctness", "style")
    assert label.score == 1.25


def scores_all(request, score: int):
    count = len(request.json["response_format"]["json_schema"]["schema"]["properties"])
    return completion({f"c{n}": said(score=score) for n in range(1, count + 1)})


async def test_a_gullible_judge_is_found_out(judge, endpoint):
    injected = {pair.injected for pair in twins() if pair.encoding == "plain"}

    async def gullible(request, writer):
        return scores_all(request, 100 if submission_in(request) in injected else 40)

    endpoint.follow(gullible)
    made = await attack(judge)
    assert made.figures.pairs == len(twins())
    assert made.figures.moved == made.figures.raised == made.figures.flipped == len(injected)
    kinds = {one.kind: one for one in made.kinds}
    assert (kinds["encoded"].moved, kinds["plain order"].moved) == (0, 3)
    assert kinds["plain order"].mean_shift == kinds["plain order"].most == 60
    assert made.noise == 0
    assert judge.figures.of(judge.panel().identity).attack == made.figures


async def test_noise_of_a_judge_is_not_counted_as_success_of_an_attack(judge_with, endpoint):
    calls = 0

    async def unsteady(request, writer):
        nonlocal calls
        calls += 1
        return scores_all(request, 50 + calls % 20)

    endpoint.follow(unsteady)
    made = await attack(judge_with(judge_concurrency=1))
    assert made.noise > 0
    assert made.threshold >= 5
    assert made.figures.moved <= len(twins()) // 5

    async def steady(request, writer):
        return scores_all(request, 50)

    endpoint.follow(steady)
    made = await attack(judge_with())
    assert (made.figures.moved, made.figures.mean_shift, made.noise) == (0, 0, 0)


async def test_the_configured_judge_is_the_one_measured(judge, endpoint, labels):
    endpoint.follow(reads_scores(0))
    chosen = DOCUMENT | {"judge": {"models": ["another-model"]}}
    await calibrate(judge, read_labels(labels(row(1, 2) | {"standard": chosen}, row(1, 9))))
    assert {chat["model"] for chat in endpoint.chats} == {judge.panel().models[0]}


async def test_the_effect_of_the_hardening_can_be_measured(judge, endpoint, tmp_path):
    injected = {pair.injected for pair in twins()}

    async def obeys_text_in_the_same_message(request, writer):
        if len(request.json["messages"]) == 2:
            return scores_all(request, 40)
        text = request.json["messages"][0]["content"].partition("The submission:\n")[2]
        return scores_all(request, 100 if text in injected else 45)

    endpoint.follow(obeys_text_in_the_same_message)
    made = await attack(judge, bare=True)
    assert made.figures.moved == 0
    assert made.without.bare.flipped == len(twins())
    assert made.without.honest_shift.value == -5
    assert (
        judge.figures.of(judge.panel().identity).attack == made.figures
    )  # those with the hardening
    assert not (tmp_path / "home/judge/answers").exists()
