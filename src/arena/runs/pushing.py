"""Sends a run as a bundle, and receives one: checked, replayed, and stored once."""

import asyncio
import pickle
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

from arena import __version__, clock
from arena.catalog.suite import KnownVersion
from arena.catalog.test import Test, deciding_of
from arena.content.errors import ContentCorrupt, ContentMissing
from arena.content.reading import reading
from arena.errors import Conflict
from arena.pools.threads import WRITES
from arena.runs.bundle import (
    Bundle,
    BundleWriter,
    Header,
    InvalidBundle,
    OtherTestLine,
    ResultLine,
    SuitePart,
    TestLine,
    open_bundle,
)
from arena.runs.claimed_results import Totals, check_result, read_results
from arena.runs.claimed_tests import ClaimedTests, Names, check_tests
from arena.runs.item import Executed
from arena.runs.records.bundles import (
    ReportedRun,
    bodies_with,
    completed_run,
    find_pushed,
    frozen_tests,
    pushed_id,
    pushed_result_id,
    refuse_many_reported,
    store_reported,
    version_of_run,
)
from arena.runs.records.reader import RunReader
from arena.runs.replaying import NO_ANSWER, Replay, Replayed
from arena.runs.run import Result, Run
from arena.runs.verdicts import judged_fields
from arena.scoring.board import Provenance
from arena.settings import Settings
from arena.team import working_for

if TYPE_CHECKING:
    from arena.content.ports import ContentStore
    from arena.feed import Feed
    from arena.sandbox.ports import SandboxProvider
    from arena.store.database import Database

SPOOL_BYTES = 8 * 1024**2
"""Checked results that wait in memory; more of them wait in a file."""
PAGE_RESULTS = 500
QUOTA_RESULTS = 1_000_000
"""Of a team on a server with tokens, which several teams share: generous, but not endless."""
TIMES = ("created_at", "started_at", "completed_at")


class Pushing:
    """Writes the bundles of runs, and takes those of others."""

    def __init__(
        self,
        database: "Database",
        content: "ContentStore",
        sandbox: "Callable[[], SandboxProvider]",
        settings: Settings,
        feed: "Feed",
    ) -> None:
        self._database = database
        self._content = content
        self._sandbox = sandbox
        self._settings = settings
        self._feed = feed

    async def bundle(
        self, run_id: UUID, team_id: str | None, tests: Mapping[str, Test]
    ) -> AsyncIterator[bytes]:
        """The lines of a completed run's bundle; `tests` are those of the catalog, by id."""
        run = await completed_run(self._database, run_id, team_id, "pushed")
        suite = await version_of_run(self._database, run)
        writer = BundleWriter()
        yield writer.line(_header(run, suite))
        known: set[str] = set()
        async for test, trials in frozen_tests(self._database, run_id):
            known.add(test.id)
            yield writer.line(TestLine(test=test.as_json(), trials=trials))
        async for line in self._results(run_id):
            yield writer.line(line)
        if run.is_full:
            for other in await self._other_tests(run.agent_id, suite, known, tests):
                yield writer.line(other)
        yield writer.end()

    async def _results(self, run_id: UUID) -> AsyncIterator[ResultLine]:
        reader, after, has_more = RunReader(self._database), 0, True
        while has_more:
            page = await reader.results(run_id, after=after, limit=PAGE_RESULTS)
            for result in page.results:
                after = result.sequence
                yield await self._result_line(result)
            has_more = page.has_more

    async def _result_line(self, result: Result) -> ResultLine:
        record, cid = None, result.verdict_cid
        if cid is not None:
            try:
                data = await reading(self._content, lambda source: source.get(cid))
                record = data.decode()
            except (ContentMissing, ContentCorrupt) as error:
                raise Conflict(
                    f"the record of {result.test_id}, trial {result.trial} cannot be read, and "
                    f"without it the run cannot be checked: {error.message}"
                ) from None
        return ResultLine(result=result, record=record)

    async def _other_tests(
        self, agent_id: str, suite: KnownVersion, known: set[str], tests: Mapping[str, Test]
    ) -> list[OtherTestLine]:
        """The tests of the suite that are not in a full run, as far as they are known."""
        missing = {name: one for name, one in suite.manifest.items() if name not in known}
        frozen = await bodies_with(self._database, missing.values())
        found: list[OtherTestLine] = []
        for test_id, fingerprint in sorted(missing.items()):
            test, body = tests.get(test_id), frozen.get(fingerprint)
            if body is None and test is not None and test.fingerprint == fingerprint:
                body = dict[str, Any](test.as_json())
            if body is not None and agent_id not in (body["agents"] or (agent_id,)):
                found.append(OtherTestLine(id=test_id, other_test=deciding_of(body)))
        return found

    async def receive(self, team_id: str, data: bytes) -> Run:
        """Store a pushed run for the team; a second push of the same run changes nothing."""
        with working_for(team_id):
            bundle = await WRITES.run(open_bundle, data)
            digest = await WRITES.run(lambda: bundle.run_digest)
            source, count = _origin(bundle.header.run), bundle.header.results
            known = await find_pushed(self._database, team_id, source, digest)
            if known is not None:
                return known
            self._refuse_many(count)
            await refuse_many_reported(self._database, team_id, count, self._quota)
            return await self._receive(team_id, bundle, digest)

    @property
    def _quota(self) -> int | None:
        """Results of pushed runs that a team may have; None: no limit."""
        results = self._settings.push_quota_results
        if results is None and self._settings.tokens:
            results = QUOTA_RESULTS
        return results or None

    def _refuse_many(self, count: int) -> None:
        most = self._settings.push_max_results
        if count > most:
            raise InvalidBundle(
                f"the run has {count:,} results, at most {most:,} are taken at once: ask the "
                "operator to raise ARENA_PUSH_MAX_RESULTS, or push a run with fewer trials"
            )

    async def _receive(self, team_id: str, bundle: Bundle, digest: str) -> Run:
        tests = await check_tests(bundle)
        totals, replay = Totals(), Replay(sandbox=self._sandbox)
        source = _origin(bundle.header.run)
        run_id = pushed_id(team_id, source)
        with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as spool:
            async for number, line in read_results(bundle):
                checked = await _check_line(f"line {number}", bundle.header, tests, line, replay)
                key = (line.result.test_id, line.result.trial)
                if key in totals.seen:
                    raise InvalidBundle(
                        f"line {number}: {key[0]}, trial {key[1]}: it has a result already"
                    )
                totals.seen.add(key)
                totals.add(line.result, tests.by_id[key[0]].test.points)
                result = _result(run_id, line.result, tests, checked)
                pickle.dump((result, checked.contents), spool)
            totals.check(bundle.header.run)
            await self._store_contents(spool)
            run = ReportedRun(
                team_id=team_id,
                source_run_id=source,
                bundle_digest=digest,
                columns=_columns(bundle.header.run, tests, totals, replay),
                tests=[claimed.test for claimed in tests.by_id.values()],
                trials=[claimed.trials for claimed in tests.by_id.values()],
                suite=tests.suite,
                created_at=bundle.header.run.created_at,
            )
            pages = _pages(spool, tests)
            stored = await store_reported(self._database, run, pages, self._quota)
        self._feed.notify(("run", stored.id), ("team", team_id))
        return stored

    async def _store_contents(self, spool: IO[bytes]) -> None:
        """Store the records and what they refer to, before the run that names them."""
        for _, contents in _spooled(spool):
            for content in contents:
                await WRITES.run(self._content.local.put, content)


def _origin(run: Run) -> UUID:
    """The id of a run where it was executed: a server passes on what was pushed to it."""
    if run.provenance is Provenance.REPORTED and run.source_run_id is not None:
        return run.source_run_id
    return run.id


async def _check_line(
    place: str, header: Header, tests: ClaimedTests, line: ResultLine, replay: Replay
) -> Replayed:
    test = check_result(place, header, tests, line)
    checked = await replay.check(place, test, line)
    await asyncio.sleep(0)  # judging a short answer gives the event loop no turn
    return checked


def _result(run_id: UUID, result: Result, tests: ClaimedTests, checked: Replayed) -> Result:
    """The result to store; its verdict is in the words of this server where it was replayed."""
    changes: dict[str, Any] = {"id": pushed_result_id(run_id, result.test_id, result.trial)}
    if checked.verdict is not None:
        changes |= judged_fields(tests.by_id[result.test_id].test, checked.verdict)
    return replace(result, **changes)


def _columns(run: Run, tests: ClaimedTests, totals: Totals, replay: Replay) -> dict[str, Any]:
    """The columns of a pushed run: what it claims where it cannot be checked, else what is true."""
    without_answer = replay.not_replayed.pop(NO_ANSWER, 0)
    verification = {
        "at": clock.now().isoformat(),
        "by": f"Arena {__version__}",
        "of_results": totals.passed + totals.failed,
        "replayed": replay.replayed,
        "not_replayed": replay.not_replayed.total(),
        "without_answer": without_answer,
        "reasons": dict(sorted(replay.not_replayed.items())),
        "unproved_tests": tests.unproved,
    }
    return {
        **{name: getattr(run, name) for name in (*Names.model_fields, *TIMES)},
        "is_full": tests.is_full,
        "verification": verification,
        **totals.columns,
    }


def _spooled(spool: IO[bytes]) -> Iterator[tuple[Result, Sequence[bytes]]]:
    """Everything in the spool; only this process has written it."""
    spool.seek(0)
    while True:
        try:
            yield pickle.load(spool)
        except EOFError:
            return


def _pages(spool: IO[bytes], tests: ClaimedTests) -> Iterator[list[Executed]]:
    page: list[Executed] = []
    for result, _ in _spooled(spool):
        page.append(Executed(test=tests.by_id[result.test_id].test, result=result))
        if len(page) == PAGE_RESULTS:
            yield page
            page = []
    if page:
        yield page


def _header(run: Run, suite: KnownVersion) -> Header:
    # Neither the sender's own team nor what was once checked there is of use elsewhere.
    sent = replace(run, team_id="", verification=None, is_archived=False)
    part = SuitePart(
        name=suite.name, version=suite.version, label=suite.label, manifest=suite.manifest
    )
    return Header(run=sent, suite=part, tests=run.test_count, results=run.total_tests)
