"""Standards and results: fetched by CID, verified, checked and pinned."""

import asyncio
from collections.abc import Mapping

from arena.content.canonical import canonical, read_json
from arena.content.cid import parse_cid
from arena.content.errors import ContentMissing
from arena.content.store import LocalStore
from arena.content.tree import cid_of
from arena.errors import InvalidInput
from arena.evaluation.reading import read_standard_document
from arena.evaluation.standard import MIN_PASS_SCORE, Standard, passes_from
from arena.market.errors import BadContent

MAX_STANDARD_BYTES = 1024 * 1024
MAX_RESULT_BYTES = 8 * 1024 * 1024


class Contents:
    """What tasks are judged by and what was handed in."""

    def __init__(self, store: LocalStore) -> None:
        self._store = store

    async def keep_standard(self, evaluation: str | Mapping[str, object]) -> str:
        """Make sure that a standard is here, valid and pinned; gives its CID."""
        return await asyncio.to_thread(self._keep_standard, evaluation)

    async def keep_result(self, result: bytes | str) -> str:
        """Make sure that a result is here and pinned; gives its CID."""
        return await asyncio.to_thread(self._keep_result, result)

    async def standard(self, cid: str) -> Standard:
        """The standard by that name, verified."""
        return await asyncio.to_thread(self._read_standard, cid)

    async def result(self, cid: str) -> bytes:
        """The whole result by that name, verified."""
        return await asyncio.to_thread(self._get, "the result", cid, MAX_RESULT_BYTES)

    def _keep_standard(self, evaluation: str | Mapping[str, object]) -> str:
        cid = name_of_standard(evaluation)
        if not isinstance(evaluation, str):
            data = _canonical(evaluation)
            _check_pass_score(_read(cid, data))
            self._store.put(data)
        _check_pass_score(self._read_standard(cid))
        self._store.pin(cid)
        return cid

    def _keep_result(self, result: bytes | str) -> str:
        if isinstance(result, bytes):
            result_hash = self._store.put(result)
        else:
            self._get("the result", result, MAX_RESULT_BYTES)
            result_hash = str(parse_cid(result))
        self._store.pin(result_hash)
        return result_hash

    def _read_standard(self, cid: str) -> Standard:
        return _read(cid, self._get("the evaluation standard", cid, MAX_STANDARD_BYTES))

    def _get(self, what: str, cid: str, max_bytes: int) -> bytes:
        try:
            return self._store.get(cid, max_bytes=max_bytes)
        except ContentMissing:
            raise BadContent(f"{what} {cid} is not in the content store: put it there") from None
        except InvalidInput as wrong:
            raise BadContent(f"{what}: {wrong}") from None


def name_of_result(result: bytes | str) -> str:
    """The CID under which a result will be frozen."""
    if isinstance(result, str):
        return _name("the result", result)
    if not 0 < len(result) <= MAX_RESULT_BYTES:
        raise BadContent(f"the result has {len(result)} bytes, 1 to {MAX_RESULT_BYTES} are taken")
    return cid_of(result)


def name_of_standard(evaluation: str | Mapping[str, object]) -> str:
    """The CID of a standard, given as such or to be made."""
    if isinstance(evaluation, str):
        return _name("the evaluation standard", evaluation)
    return cid_of(_canonical(evaluation))


def _name(what: str, cid: str) -> str:
    try:
        return str(parse_cid(cid))
    except InvalidInput as wrong:
        raise BadContent(f"{what}: {wrong}") from None


def _canonical(evaluation: Mapping[str, object]) -> bytes:
    try:
        data = canonical(dict(evaluation))
    except InvalidInput as wrong:
        raise BadContent(f"the evaluation standard: {wrong}") from None
    if len(data) > MAX_STANDARD_BYTES:
        raise BadContent(f"the evaluation standard has more than {MAX_STANDARD_BYTES} bytes")
    return data


def _read(cid: str, data: bytes) -> Standard:
    try:
        # Strictly: of a key that stands there twice each reader would take the one it likes.
        return read_standard_document(read_json(data))
    except InvalidInput as wrong:
        raise BadContent(f"the evaluation standard {cid}: {wrong}") from None


def _check_pass_score(standard: Standard) -> None:
    """Refuse a standard by which a paid result could have failed, or the other way round."""
    if not passes_from(standard, MIN_PASS_SCORE):
        raise BadContent(
            f"the market pays from a score of {MIN_PASS_SCORE} on, but this standard passes from "
            f"another: set its pass_score to {MIN_PASS_SCORE}"
        )
