"""Which verdicts of a run become records of their own."""

import asyncio
from dataclasses import dataclass

from arena.catalog import Test
from arena.content import LocalStore
from arena.evaluation import Submission, Verdict, is_graded, keep_record


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
        return await asyncio.to_thread(
            keep_record, self.store, test.document, submission, verdict, sandbox=self.sandbox
        )
