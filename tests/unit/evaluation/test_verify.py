"""Honest records hold, and every error in one is found."""

import json
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.content.archive import read_archive, write_archive
from arena.content.canonical import canonical
from arena.content.errors import ContentMissing
from arena.content.store import LocalStore
from arena.errors import ArenaError, InvalidInput
from arena.evaluation.evaluate import evaluate
from arena.evaluation.judge.panel import replay
from arena.evaluation.judge.prompt import brief_for
from arena.evaluation.reading import read_standard_document
from arena.evaluation.record import (
    NotARecord,
    contents_of,
    keep_record,
    read_record,
    write_record,
)
from arena.evaluation.resources import Resources
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.verdict import Finding, ItemAnswer, Judgement, Submission, Verdict, Vote
from arena.evaluation.verify import Verification, verify

verify_module = sys.modules["arena.evaluation.verify"]

CONTAINS = {"type": "contains", "contains": ["blue"]}
JUDGE = {"type": "judge_prompt", "prompt": "Is it kind?", "criteria": ["kind", "clear"]}
CHECKLIST = {"type": "checklist", "items": ["is short", "is polite", "is true"]}
ALL = {
    "type": "all_of",
    "all_of": [
        {**CONTAINS, "weight": 3},
        {**JUDGE, "weights": [80, 20]},
        CHECKLIST,
        {"type": "any_of", "any_of": [{"type": "exact", "value": "no"}, CONTAINS]},
    ],
    "pass_score": 70,
}
ANSWERS = [ItemAnswer(passed=True), ItemAnswer(passed=False, note="rude"), ItemAnswer(passed=True)]


async def panel(standard: JudgePrompt, submission: Submission, _: str | None) -> Verdict:
    """A panel of three votes, combined as the judge does it."""
    votes = tuple(
        Vote(
            model="m",
            number=number,
            scores={"kind": kind, "clear": 50},
            reasons={"kind": "it smiles", "clear": "so so"},
            quotes={"kind": "sky", "clear": "nowhere to be found"},
            input_tokens=10,
        )
        for number, kind in enumerate((90, 40, 70), start=1)
    )
    brief = brief_for(standard, submission, max_characters=1000)
    judgement = Judgement(
        votes=votes,
        rule="lower median",
        spread={"kind": 50, "clear": 0},
        prompt_digest=brief.digest,
        characters=brief.characters,
        shown_characters=len(brief.shown),
    )
    bare = Verdict(score=0, passed=False, reasoning="", findings=(), judgement=judgement)
    verdict = replay(standard, submission, bare)
    assert verdict.score == (70 * standard.weights[0] + 50 * standard.weights[1]) / sum(
        standard.weights
    )
    return verdict


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "content")


async def recorded(store: LocalStore, document: dict[str, Any], output: str = "blue sky") -> str:
    standard, submission = read_standard_document(document), Submission(output=output)
    places = {(): ANSWERS, (2,): ANSWERS}
    verdict = await evaluate(standard, submission, Resources(judge=panel, answers=places))
    return keep_record(store, document, submission, verdict)


async def forged(
    store: LocalStore, document: dict[str, Any], change: Callable[[dict[str, Any]], object]
) -> Verification:
    """Verify a record with one change made by hand."""
    record = json.loads(store.get(await recorded(store, document)))
    change(record)
    return await verify(store, store.put(canonical(record)), None)


@pytest.mark.parametrize("document", [CONTAINS, JUDGE, CHECKLIST, ALL], ids=lambda d: d["type"])
@pytest.mark.parametrize("output", ["blue sky", "", "red", "x" * 200_000])
async def test_an_honest_record_holds(store: LocalStore, document: dict[str, Any], output: str):
    found = await verify(store, await recorded(store, document, output), None)
    assert (found.outcome, found.differences, found.obstacles) == ("holds", (), ())


async def test_what_cannot_be_replayed_is_reported_as_taken(store: LocalStore):
    found = await verify(store, await recorded(store, ALL), None)
    assert found.taken == (
        "verdict.parts[1]: the votes of the models",
        "verdict.parts[2]: the answers of people",
    )


def at(*path: str | int) -> Callable[[dict[str, Any], object], None]:
    def put(record: dict[str, Any], value: object) -> None:
        for step in path[:-1]:
            record = record[step]
        record[path[-1]] = value

    return put


FORGERIES = [
    # The whole: its score, its threshold, its words.
    (at("verdict", "score"), 99.0, "verdict.score"),
    (at("verdict", "passed"), False, "verdict.passed"),
    (at("verdict", "reasoning"), "because I say so", "verdict.reasoning"),
    # A plain validator's finding.
    (
        at("verdict", "parts", 0, "findings", 0, "passed"),
        False,
        "verdict.parts[0].findings[0].passed",
    ),
    (at("verdict", "parts", 0, "findings", 0, "evidence"), "red", "parts[0].findings[0].evidence"),
    (at("verdict", "findings", 0, "passed"), False, "verdict.findings[0].passed"),
    # A panel: a vote, the median made of it, the spread, a weight, the total.
    (at("verdict", "parts", 1, "judgement", "votes", 1, "scores", "kind"), 95, "parts[1].score"),
    (at("verdict", "parts", 1, "findings", 0, "score"), 90.0, "parts[1].findings[0].score"),
    (at("verdict", "parts", 1, "findings", 0, "weight"), 1.0, "parts[1].findings[0].weight"),
    (at("verdict", "parts", 1, "judgement", "spread", "kind"), 0, "judgement.spread.kind"),
    (at("verdict", "parts", 1, "score"), 90.0, "verdict.parts[1].score"),
    (at("verdict", "parts", 1, "passed"), False, "verdict.parts[1].passed"),
    (at("verdict", "parts", 1, "judgement", "votes"), [], "verdict.parts[1].judgement"),
    (at("verdict", "parts", 1, "judgement", "rule"), "mean", "judgement.rule"),
    (at("verdict", "parts", 1, "judgement", "prompt_digest"), "0", "judgement.prompt_digest"),
    (at("verdict", "parts", 1, "judgement", "characters"), 3, "judgement.characters"),
    (at("verdict", "parts", 1, "judgement", "votes", 2, "scores", "kind"), 101, "judgement"),
    (at("verdict", "parts", 1, "judgement", "votes", 2, "quotes", "kind"), "no", "evidence"),
    (at("verdict", "parts", 1, "judgement", "votes", 2, "reasons"), {}, "judgement"),
    (at("verdict", "parts", 1, "findings", 1, "mark"), None, "parts[1].findings[1].mark"),
    (at("verdict", "parts", 1, "judgement", "votes", 0, "scores"), {"kind": 1}, "judgement"),
    (at("verdict", "parts", 1, "judgement"), None, "verdict.parts[1].judgement"),
    (at("verdict", "parts", 1, "findings"), [], "verdict.parts[1].findings"),
    # A checklist: an answer, the share, too few answers.
    (at("verdict", "parts", 2, "answers", 1, "passed"), True, "verdict.parts[2].score"),
    (at("verdict", "parts", 2, "score"), 67.0, "verdict.parts[2].score"),
    (at("verdict", "parts", 2, "answers"), [], "verdict.parts[2].answers"),
    # Fields that this kind of verdict cannot have: a model's has no answers and no opened cases.
    (
        at("verdict", "parts", 1, "answers"),
        [{"note": "", "passed": True, "reviewer": "x"}],
        ".answers",
    ),
    (at("verdict", "parts", 1, "openings"), [{"case": {}, "salt": "00"}], "parts[1].openings"),
    (at("verdict", "parts", 1, "engine"), "python 3", "parts[1].engine"),
    (at("verdict", "parts", 0, "engine"), "python 3", "parts[0].engine"),
    (at("verdict", "parts", 1, "judgement", "votes", 2, "number"), 1, "judgement"),
    (at("verdict", "parts", 1, "judgement", "votes", 2, "quotes", "other"), "blue", "judgement"),
    # Parts that are missing.
    (at("verdict", "parts"), [], "verdict.parts"),
    (at("verdict", "parts", 3, "parts"), [], "verdict.parts[3].parts"),
]


@pytest.mark.parametrize(("put", "value", "path"), FORGERIES, ids=range(len(FORGERIES)))
async def test_a_forged_record_differs_and_says_where(store: LocalStore, put, value, path: str):
    found = await forged(store, ALL, lambda record: put(record, value))
    assert found.outcome == "differs"
    assert any(path in difference.path for difference in found.differences)


@pytest.mark.parametrize("name", ["reasoning", "engine", "mark", "a.judgement.prompt_digest"])
async def test_a_criterion_may_be_called_like_a_part_of_the_record(store: LocalStore, name: str):
    document = {**JUDGE, "criteria": [name]}
    vote = Vote(model="m", number=1, scores={name: 50}, reasons={name: "so so"})
    judgement = Judgement(
        votes=(vote, replace(vote, number=2, scores={name: 90})),
        rule="",
        spread={},
        prompt_digest="",
        shown_characters=8,
    )
    bare = Verdict(score=0, passed=False, reasoning="", findings=(), judgement=judgement)
    standard = read_standard_document(document)
    assert isinstance(standard, JudgePrompt)
    submission = Submission(output="blue sky")
    verdict = replay(standard, submission, bare)
    verdict = replace(verdict, reasoning=f'{verdict.reasoning} (read: "blue sky")')
    record = json.loads(store.get(keep_record(store, document, submission, verdict)))
    assert (await verify(store, store.put(canonical(record)), None)).outcome == "holds"
    record["verdict"]["judgement"]["spread"][name] = 0
    for version in (record["made_with"]["arena"], "another"):
        record["made_with"]["arena"] = version
        found = await verify(store, store.put(canonical(record)), None)
        (difference,) = found.differences
        assert (found.outcome, difference.recomputed) == ("differs", 40)


async def test_a_record_of_another_submission_differs(store: LocalStore):
    other = store.put(b"red sky")
    found = await forged(store, CONTAINS, lambda record: record.update(submission_cid=other))
    assert found.outcome == "differs"


async def test_a_record_of_a_gentler_standard_differs(store: LocalStore):
    gentler = store.put(canonical({**CHECKLIST, "pass_score": 90}))
    found = await forged(store, CHECKLIST, lambda record: record.update(standard_cid=gentler))
    assert [difference.path for difference in found.differences][:1] == ["verdict.passed"]


async def test_another_version_may_word_it_differently_but_not_judge_differently(store: LocalStore):
    def older(record: dict[str, Any]) -> None:
        record["made_with"]["arena"] = "0.0.1"
        record["verdict"]["reasoning"] = "in older words"

    found = await forged(store, CONTAINS, older)
    assert (found.outcome, found.differences) == ("texts_differ", ())
    assert [(one.path, one.recorded) for one in found.texts] == [
        ("verdict.reasoning", "in older words")
    ]
    assert "0.0.1" in found.notes[0]

    def harsher(record: dict[str, Any]) -> None:
        older(record)
        record["verdict"]["passed"] = False

    assert (await forged(store, CONTAINS, harsher)).outcome == "differs"


@pytest.mark.parametrize("key", ["standard_cid", "submission_cid"])
async def test_what_is_missing_or_damaged_cannot_be_replayed(store: LocalStore, key: str):
    cid = await recorded(store, CONTAINS)
    name = json.loads(store.get(cid))[key]
    (file,) = store.folder.glob(f"blocks/*/{name}")
    file.write_bytes(b"changed")
    damaged = await verify(store, cid, None)
    file.unlink()
    missing = await verify(store, cid, None)
    for found in (damaged, missing):
        assert found.outcome == "cannot_be_replayed"
        assert name in found.obstacles[0]


async def test_invalid_standards_and_submissions_cannot_be_replayed(store: LocalStore):
    for change in (
        {"standard_cid": store.put(b"{}")},
        {"standard_cid": store.put(b"not JSON")},
        {"standard_cid": "hello"},
        {"submission_cid": store.put(b"\xff")},
    ):
        found = await forged(store, CONTAINS, lambda record, change=change: record.update(change))
        assert found.outcome == "cannot_be_replayed"


async def test_test_cases_without_a_sandbox_are_counted_but_not_replayed(store: LocalStore):
    document = {"type": "test_cases", "cases": [{"input": [], "expected": 1}] * 3}
    findings = tuple(
        Finding(criterion=f"case {n}", passed=n < 3, reason="ran") for n in range(1, 4)
    )
    verdict = Verdict(score=66, passed=True, reasoning="2 of 3", findings=findings, engine="python")
    for score, findings, outcome in (
        (66, verdict.findings, "cannot_be_replayed"),
        (0, tuple(replace(one, passed=False) for one in verdict.findings), "cannot_be_replayed"),
        (67, verdict.findings, "differs"),
        (66, verdict.findings[:2], "differs"),
    ):
        made = replace(verdict, score=score, findings=findings, passed=score >= 60)
        cid = keep_record(store, document, Submission(output="print(1)"), made)
        assert (await verify(store, cid, None)).outcome == outcome


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(extra=1),
        lambda record: record.update(kind="arena.verdict/3"),
        lambda record: record.pop("language"),
        lambda record: record["verdict"].update(score="99"),
        lambda record: record["verdict"].update(score=100),  # an int where a float stands
        lambda record: record["verdict"]["findings"][0].update(passed=1),
        lambda record: record.update(made_at="yesterday"),
    ],
)
async def test_an_invalid_record_is_refused(store: LocalStore, change):
    record = json.loads(store.get(await recorded(store, CONTAINS)))
    change(record)
    with pytest.raises(NotARecord):
        read_record(canonical(record))


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"null", b"\xff", b'{"kind": 1}'])
def test_other_content_is_not_a_record(data: bytes):
    with pytest.raises(NotARecord):
        read_record(data)


async def test_a_record_reads_back(store: LocalStore):
    data = store.get(await recorded(store, ALL))
    assert write_record(read_record(data)) == data


async def test_a_record_can_quote_what_utf8_cannot_hold(store: LocalStore):
    document = {"type": "checklist", "items": ["a"]}
    answer = ItemAnswer(passed=False, note="half \ud83d of a pair")
    submission = Submission(output="x")
    verdict = await evaluate(
        read_standard_document(document), submission, Resources(answers={(): [answer]})
    )
    cid = keep_record(store, document, submission, verdict)
    assert (await verify(store, cid, None)).outcome == "holds"
    with pytest.raises(InvalidInput, match="surrogate"):
        keep_record(store, document, Submission(output="\ud83d"), verdict)


async def test_a_record_verifies_elsewhere_from_an_export_and_every_changed_byte_is_found(
    store: LocalStore, tmp_path: Path
):
    cid = await recorded(store, CONTAINS)
    archive = write_archive(store, contents_of(store, [cid]))
    other = LocalStore(tmp_path / "other")
    assert read_archive(other, archive)[0] == cid
    assert (await verify(other, cid, None)).outcome == "holds"
    untouched = LocalStore(tmp_path / "untouched")
    for place in range(len(archive)):
        changed = archive[:place] + bytes((archive[place] ^ 1,)) + archive[place + 1 :]
        with pytest.raises(ArenaError):
            read_archive(untouched, changed)
    assert not untouched.folder.exists()


async def test_one_changed_byte_in_the_store_is_found(store: LocalStore):
    cid = await recorded(store, CONTAINS)
    for file in store.folder.glob("blocks/*/*"):
        before = file.read_bytes()
        for place in range(len(before)):
            changed = before[:place] + bytes((before[place] ^ 1,)) + before[place + 1 :]
            file.write_bytes(changed)
            try:
                assert (await verify(store, cid, None)).outcome == "cannot_be_replayed"
            except ArenaError as error:
                assert error.code == "content_corrupt"
        file.write_bytes(before)
    assert (await verify(store, cid, None)).outcome == "holds"


async def test_a_record_that_is_not_here_is_missing(store: LocalStore):
    with pytest.raises(ContentMissing):
        await verify(store, "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku", None)


async def test_other_work_continues_while_a_large_record_is_checked(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
):
    cid = await recorded(store, ALL)
    loops_own = threading.get_ident()
    seen: list[str] = []
    for name in ("read_record", "replay", "verdict_document"):
        work = getattr(verify_module, name)

        def elsewhere(*given: Any, work: Any = work, name: str = name) -> Any:
            assert threading.get_ident() != loops_own, name
            seen.append(name)
            return work(*given)

        monkeypatch.setattr(verify_module, name, elsewhere)
    assert (await verify(store, cid, None)).outcome == "holds"
    assert set(seen) == {"read_record", "replay", "verdict_document"}
