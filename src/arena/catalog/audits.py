"""The audit of a whole catalog, piece by piece; a test that stays the same is audited once."""

import asyncio
import time
from dataclasses import dataclass

from arena.catalog.audit import AuditFinding, audit_test
from arena.catalog.catalog import Catalog
from arena.catalog.test import Test
from arena.errors import InfrastructureError
from arena.evaluation.resources import NO_RESOURCES, Resources


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What is known so far of the tests of one catalog."""

    digest: str
    """Of the catalog that was looked at."""
    findings: tuple[AuditFinding, ...]
    audited: int
    """How many active tests were looked at to the end."""
    left_out: tuple[str, ...]
    """Ids of tests that only a model or a person can judge, or that could not be judged here."""
    pending: int
    """How many are still to be looked at."""


class Audits:
    """Audits each test once. No model is ever asked: the means have none."""

    def __init__(self, resources: Resources = NO_RESOURCES) -> None:
        self._resources = Resources(sandbox=resources.sandbox, unseal=resources.unseal)
        self._known: dict[str, list[AuditFinding] | None] = {}
        """By the digest of the test; None where it was left out."""
        self._digests: tuple[str, list[tuple[Test, str]]] = ("", [])
        self._working = asyncio.Lock()

    async def report(self, catalog: Catalog, *, within_seconds: float) -> AuditReport:
        """The findings, after no more than about so much work; ask again for what is pending."""
        async with self._working:
            tests = self._active(catalog)
            unable = await self._look_at(tests, time.monotonic() + within_seconds)
        known = [(test, self._known[digest]) for test, digest in tests if digest in self._known]
        left_out = [test.id for test, found in known if found is None]
        return AuditReport(
            digest=catalog.digest,
            findings=tuple(one for _, found in known for one in found or ()),
            audited=len(known) - len(left_out),
            left_out=(*left_out, *unable),
            pending=len(tests) - len(known) - len(unable),
        )

    def _active(self, catalog: Catalog) -> list[tuple[Test, str]]:
        """The active tests with their digests; what no longer exists is forgotten."""
        if self._digests[0] != catalog.digest:
            tests = [(test, test.digest) for test in catalog.tests if test.active]
            self._digests = (catalog.digest, tests)
            present = {digest for _, digest in tests}
            self._known = {key: found for key, found in self._known.items() if key in present}
        return self._digests[1]

    async def _look_at(self, tests: list[tuple[Test, str]], until: float) -> list[str]:
        """Look at what is not known yet, in time; the ids of tests that could not be judged now."""
        unable: list[str] = []
        for test, digest in tests:
            if digest in self._known:
                continue
            if time.monotonic() > until:
                break
            try:
                self._known[digest] = await audit_test(test, self._resources)
            except InfrastructureError:
                # No sandbox here, or a busy one: not kept, it may go better next time.
                unable.append(test.id)
            # Plain validators never wait: others get their turn between two tests.
            await asyncio.sleep(0)
        return unable
