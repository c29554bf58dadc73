"""The content of tasks: standards and results, verified and pinned."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from arena.content.canonical import canonical, read_json
from arena.content.cid import parse_cid
from arena.content.errors import ContentMissing
from arena.content.store import LocalStore
from arena.content.tree import cid_of
from arena.errors import InvalidInput
from arena.evaluation.reading import read_standard_document
from arena.evaluation.standard import passes_from
from arena.evaluation.time_limit import CASE_SECONDS, fixed_seconds, judging_seconds
from arena.evaluation.verdict import MIN_PASS_SCORE
from arena.market.errors import BadContent
from arena.market.task import MAX_RESULT_BYTES
from arena.sandbox.limits import COMPILE_SECONDS

MAX_STANDARD_BYTES = 1024 * 1024
MAX_FIXED_SECONDS = 600
"""What the functions and patterns of one standard may take; each has its own limit."""


class Contents:
    """The standards that tasks are judged by, and the results that were submitted."""

    def __init__(self, store: LocalStore) -> None:
        self.store = store

    async def keep_standard(
        self, evaluation: str | Mapping[str, object], window_seconds: int
    ) -> None:
        """Make sure that a standard is in the store, usable within the window, and pinned."""
        await asyncio.to_thread(self._keep_standard, evaluation, window_seconds)

    async def keep_result(self, result: bytes | str) -> None:
        """Make sure that a result is in the store and pinned."""
        await asyncio.to_thread(self._keep_result, result)

    async def standard(self, cid: str) -> dict[str, Any]:
        """The standard with this CID as a document, verified and valid."""
        return await asyncio.to_thread(self._standard, cid)

    async def result(self, cid: str) -> bytes:
        """The whole result with this CID, verified."""
        return await asyncio.to_thread(self._get, "the result", cid, MAX_RESULT_BYTES)

    def _keep_standard(self, evaluation: str | Mapping[str, object], window_seconds: int) -> None:
        cid = cid_of_standard(evaluation)
        if isinstance(evaluation, str):
            _check_usable(self._standard(cid), window_seconds)
        else:
            data = _canonical(evaluation)
            # Before it is stored: a refused standard must leave nothing behind.
            _check_usable(_valid(cid, data), window_seconds)
            self.store.put(data)
        # A task may last a year; tools that clean up the store must keep its standard.
        self.store.pin(cid)

    def _keep_result(self, result: bytes | str) -> None:
        if isinstance(result, bytes):
            self.store.pin(self.store.put(result))
        else:
            self._get("the result", result, MAX_RESULT_BYTES)
            self.store.pin(str(parse_cid(result)))

    def _standard(self, cid: str) -> dict[str, Any]:
        return _valid(cid, self._get("the evaluation standard", cid, MAX_STANDARD_BYTES))

    def _get(self, what: str, cid: str, max_bytes: int) -> bytes:
        try:
            return self.store.get(cid, max_bytes=max_bytes)
        except ContentMissing:
            raise BadContent(f"{what} {cid} is not in the content store: put it there") from None
        except InvalidInput as error:
            raise BadContent(f"{what}: {error}") from None


def cid_of_result(result: bytes | str) -> str:
    """The CID that a result will be frozen under."""
    if isinstance(result, str):
        return _canonical_cid("the result", result)
    if not 0 < len(result) <= MAX_RESULT_BYTES:
        raise BadContent(f"the result has {len(result)} bytes, must have 1 to {MAX_RESULT_BYTES}")
    return cid_of(result)


def cid_of_standard(evaluation: str | Mapping[str, object]) -> str:
    """The CID of a standard, given as a CID or as a document."""
    if isinstance(evaluation, str):
        return _canonical_cid("the evaluation standard", evaluation)
    return cid_of(_canonical(evaluation))


def _canonical_cid(what: str, cid: str) -> str:
    try:
        return str(parse_cid(cid))
    except InvalidInput as error:
        raise BadContent(f"{what}: {error}") from None


def _canonical(evaluation: Mapping[str, object]) -> bytes:
    try:
        data = canonical(dict(evaluation))
    except InvalidInput as error:
        raise BadContent(f"the evaluation standard: {error}") from None
    if len(data) > MAX_STANDARD_BYTES:
        raise BadContent(f"the evaluation standard has more than {MAX_STANDARD_BYTES} bytes")
    return data


def _valid(cid: str, data: bytes) -> dict[str, Any]:
    try:
        # Strict: of a duplicate key, different parsers would take different values.
        document = read_json(data)
        read_standard_document(document)
    except InvalidInput as error:
        raise BadContent(f"the evaluation standard {cid}: {error}") from None
    return cast("dict[str, Any]", document)


def _check_usable(document: dict[str, Any], window_seconds: int) -> None:
    """Refuse a standard with another pass mark than the market's, or one that takes too long."""
    standard = read_standard_document(document)
    if not passes_from(standard, MIN_PASS_SCORE):
        raise BadContent(
            f"the market pays from a score of {MIN_PASS_SCORE} on, but this standard passes from "
            f"another: set its pass_score to {MIN_PASS_SCORE}"
        )
    if fixed_seconds(standard) > MAX_FIXED_SECONDS:
        raise BadContent(
            f"the functions and patterns of this standard may take {fixed_seconds(standard):g} s, "
            f"the most is {MAX_FIXED_SECONDS} s: use fewer parts"
        )
    seconds = judging_seconds(standard)
    # Half: a submission that waits for others to be judged first must fit as well.
    if 2 * seconds > window_seconds:
        raise BadContent(
            f"judging a submission may take {seconds} s ({CASE_SECONDS:g} s per case of a program, "
            f"{COMPILE_SECONDS:g} s to compile it, {CASE_SECONDS:g} s for all cases of a function "
            f"together), which is more than half of the window of {window_seconds} s: give each "
            f"judge a window of at least {2 * seconds} s, or use fewer cases"
        )
