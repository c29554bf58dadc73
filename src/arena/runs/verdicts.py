"""Which verdicts of a run become records of their own."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from arena.catalog import Test
from arena.content import LocalStore
from arena.evaluation.record import keep_record
from arena.evaluation.standard import is_graded
from arena.evaluation.verdict import Submission, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorder:
    """Keeps verdict records in a content store."""

    store: LocalStore
    sandbox: str
    """The provider of sandboxes that is at hand."""

    async def keep(self, test: Test, submission: Submission, verdict: Verdict) -> str | None:
        """The CID of the verdict's record; None where the result's own row says it all.

        A plain validator's verdict follows from the answer and the frozen test, which the database
        holds. To write files for thousands of them would cost more than to judge them.
        """
        if not is_graded(test.standard):
            return None
        return await self.keep_document(test.document, submission, verdict)

    async def keep_document(
        self, document: Mapping[str, object], submission: Submission, verdict: Verdict
    ) -> str:
        """The CID of the record of a verdict by the standard in this document."""
        return await asyncio.to_thread(
            keep_record, self.store, document, submission, verdict, sandbox=self.sandbox
        )
