"""The verdict of a real judge as a record: its votes are kept, all else is recomputed."""

import json
from pathlib import Path

import pytest

from arena.content.canonical import canonical
from arena.content.store import LocalStore
from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_standard_document
from arena.evaluation.record import keep_record
from arena.evaluation.resources import Resources
from arena.evaluation.verdict import Submission
from arena.evaluation.verify import verify
from judging import WORK, vote

DOCUMENT = {
    "type": "judge_prompt",
    "prompt": "Is the code good?",
    "criteria": ["correctness", "efficiency", "readability"],
    "weights": [50, 30, 20],
}


@pytest.mark.parametrize("limit", [100_000, 100])
async def test_the_record_of_a_panel_holds_without_its_models(
    judge_with, endpoint, tmp_path: Path, limit: int
):
    endpoint.follow(vote(70, 80, 90), vote(10, 20, 30), vote(40, 100, 0, quote="not there"))
    judge = judge_with(judge_votes=3, judge_max_characters=limit)
    submission = Submission(output=WORK * 10)
    verdict = await evaluate(
        read_standard_document(DOCUMENT), submission, Resources(judge=judge.judge)
    )
    store = LocalStore(tmp_path / "content")
    cid = keep_record(store, DOCUMENT, submission, verdict)
    await endpoint.stop()
    found = await verify(store, cid, None)
    assert (found.outcome, found.differences, found.notes) == ("holds", (), ())
    assert found.taken == ("verdict: the votes of the models",)
    record = json.loads(store.get(cid))
    record["verdict"]["judgement"]["votes"][0]["scores"]["correctness"] = 100
    record["verdict"]["judgement"]["votes"][1]["scores"]["correctness"] = 100
    forged = await verify(store, store.put(canonical(record)), None)
    assert forged.outcome == "differs"
