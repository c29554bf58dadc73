"""Is it good: a submission held against a standard, verdict records, and who judges."""

import asyncio
from typing import Annotated, Any

from pydantic import Field

from arena.evaluation.judge.figures import JudgeList
from arena.evaluation.verdict import ItemAnswer, Submission, Verdict, Verification
from arena.operations.operation import OperationGroup, get, post
from arena.operations.request import Request


class ChecklistAnswer(Request):
    """What a person says to one item of a checklist."""

    passed: bool
    note: str = Field(default="", max_length=10_000)
    reviewer: str = Field(default="", max_length=100)


Standard = Annotated[
    dict[str, Any] | str,
    Field(description="The standard itself, or the CID of one that is in the content store."),
]
Language = Annotated[str | None, Field(max_length=50, description="What its code is written in.")]
Answers = Annotated[
    list[ChecklistAnswer],
    Field(
        max_length=10_000,
        description="One for each item of the standard's checklists, in order.",
    ),
]
Fresh = Annotated[
    bool, Field(description="Ask the judge even where its votes on this are in the cache.")
]
Sealed = Annotated[
    dict[str, Any] | None,
    Field(description="The private part of a sealed standard; without tokens: else the one here."),
]
Record = Annotated[bool, Field(description="Whether a verdict record is kept.")]


class EvaluationOperations(OperationGroup):
    """Is it good."""

    @post(
        "/api/evaluate",
        id="evaluate_submission",
        tag="evaluation",
        errors=(404, 409),
        team=False,
        body="Evaluate",
    )
    async def evaluate(
        self,
        *,
        standard: Standard,
        submission: str,
        language: Language = None,
        answers: Answers = [],  # noqa: B006 - a default of the wire, never changed
        fresh: Fresh = False,
        sealed: Sealed = None,
        record: Record = True,
    ) -> Verdict:
        """Judge a submission by a standard: 409 if people have to answer a checklist first.

        Where tokens are needed, the caller sends the private part of a sealed standard along.
        """
        return await self.arena.evaluation.evaluate(
            standard,
            Submission(output=submission, language=language),
            answers=[ItemAnswer(**answer.model_dump()) for answer in answers],
            fresh=fresh,
            sealed=sealed,
            may_unseal=self.token_team is None,
            record=record,
        )

    @get("/api/verify/{cid}", id="verify_record", tag="verdicts", errors=(404,), team=False)
    async def verify(self, cid: str) -> Verification:
        """Check a verdict record: replay what can be, recompute what was derived from the rest."""
        return await self.arena.evaluation.verify(cid)

    @get("/api/judges", id="list_judges", tag="evaluation", team=False)
    async def judges(self) -> JudgeList:
        """List the judge that the settings name, with its latest calibration; empty without one."""
        return await asyncio.to_thread(self.arena.evaluation.judges)
