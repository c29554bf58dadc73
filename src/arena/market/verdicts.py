"""A verdict on a task: what is judged, the record that is kept, and the call that gives it."""

from typing import Any

from arena.evaluation.record import store_record
from arena.evaluation.verdict import Submission, Verdict
from arena.market.call import Action, Call
from arena.market.contents import Contents
from arena.market.task import Task


def verdict_call(task: Task, score: int, reason: str, *, by: str, claim: str | None = None) -> Call:
    """A verdict on a task, which names the agent and the result it is about."""
    return Call(
        action=Action.JUDGE,
        by=by,
        agent=task.agent,
        score=score,
        result_hash=task.result_hash,
        reason_uri=reason,
        claim=claim,
    )


async def read_submitted(contents: Contents, task: Task) -> tuple[dict[str, Any], Submission]:
    """The standard's document and the submission of a task."""
    assert task.result_hash is not None
    document = await contents.standard(task.evaluation_cid)
    result = await contents.result(task.result_hash)
    # Bytes that are not UTF-8 are replaced, so that the rest can be judged.
    output = result.decode("utf-8", "replace")
    return document, Submission(output=output, language=task.language)


async def keep_verdict(
    contents: Contents, task: Task, submission: Submission, verdict: Verdict, *, sandbox: str
) -> str:
    """Store the record with the CIDs that the task has; returns the record's CID."""
    assert task.result_hash is not None
    # The judged text differs from the result if bytes were replaced: then it gets its own CID.
    is_text = submission.output.encode() == await contents.result(task.result_hash)
    return await store_record(
        contents.store,
        task.evaluation_cid,
        submission,
        verdict,
        sandbox=sandbox,
        submission_cid=task.result_hash if is_text else None,
    )
