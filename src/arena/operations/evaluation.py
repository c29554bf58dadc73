"""Judging: submissions, verdict records, and the judges."""

import asyncio
from typing import Annotated, Any

from pydantic import Field

from arena.evaluation.judge.figures import JudgeList
from arena.evaluation.verdict import ItemAnswer, Submission, Verdict, Verification
from arena.fields import MAX_NAME_LENGTH
from arena.operations.operation import OperationGroup, get, post
from arena.operations.request import Request


class ChecklistAnswer(Request):
    """A person's answer to one item of a checklist."""

    passed: bool
    note: str = Field(default="", max_length=10_000)
    reviewer: str = Field(default="", max_length=MAX_NAME_LENGTH)


Standard = Annotated[
    dict[str, Any] | str,
    Field(description="The standard itself, or the CID of a stored one."),
]
LANGUAGE = "The language of its code, unless the standard or a fence names it, or it is evident."
Language = Annotated[str | None, Field(max_length=50, description=LANGUAGE)]
Answers = Annotated[
    list[ChecklistAnswer],
    Field(
        max_length=10_000,
        description="One for each item of the standard's checklists, in order.",
    ),
]
Fresh = Annotated[bool, Field(description="Ask the judge even if its votes are in the cache.")]
Sealed = Annotated[
    dict[str, Any] | None,
    Field(
        description="The private part of a sealed standard. Default without tokens: the stored one."
    ),
]
Record = Annotated[bool, Field(description="Whether to keep a verdict record.")]


class EvaluationOperations(OperationGroup):
    """Judging."""

    @post(
        "/api/evaluate",
        id="evaluate_submission",
        tag="evaluation",
        errors=(404, 409, 429, 507),
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

        If the server needs tokens, the caller must send the private part of a sealed standard.
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
        """Check a verdict record: replay what can be replayed, recompute the rest."""
        return await self.arena.evaluation.verify(cid)

    @get("/api/judges", id="list_judges", tag="evaluation", team=False)
    async def judges(self) -> JudgeList:
        """List the configured judge with its latest calibration; empty without one."""
        return await asyncio.to_thread(self.arena.evaluation.judges)
