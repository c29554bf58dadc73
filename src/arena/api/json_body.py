"""Parses JSON bodies without stopping other requests.

Parsing is one call that no other thread can interrupt, so its time is bounded by the number of
values: half a million take a fifth of a second, the 2.6 million that fit into a body take one.
"""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

from fastapi import Request
from pydantic import TypeAdapter, ValidationError
from starlette.types import Receive, Scope

from arena.api.problems import Refused
from arena.errors import InvalidInput

SMALL_BYTES = 64 * 1024
"""A body up to this size is parsed at once."""
MAX_VALUES = 500_000
"""Values and keys in a body: its commas, colons and opening brackets outside of texts."""
MAX_FAULTS = 1000
"""Invalid parts of a body; describing a million of them takes seconds."""

_parser = ThreadPoolExecutor(max_workers=1, thread_name_prefix="arena-json")
"""One thread: two large bodies at once would take the interpreter twice as often."""


class JsonRequest(Request):
    """A request whose JSON body is parsed within limits."""

    def __init__(self, scope: Scope, receive: Receive, kind: Any) -> None:
        super().__init__(scope, receive)
        self._kind = kind

    async def json(self) -> Any:
        """The body's value."""
        data = await self.body()
        if len(data) <= SMALL_BYTES:
            return json.loads(data)
        call = partial(parse_large, data, adapter_of(self._kind))
        return await asyncio.get_running_loop().run_in_executor(_parser, call)


@cache
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    """Validates a body of this type; made by the first large one."""
    return TypeAdapter(kind)


def parse_large(data: bytes, adapter: TypeAdapter[Any]) -> Any:
    """The value; an error if it has too many values, or too many invalid parts."""
    # Decoded as `json` does it: a count in UTF-16 would take parts of characters for quotes.
    text = data.decode(json.detect_encoding(data), "surrogatepass")
    if has_too_many_values(text):
        detail = f"the body has more than {MAX_VALUES:,} values and keys; split it"
        raise Refused(413, "body_too_large", detail)
    value = json.loads(text, parse_int=_integer)
    try:
        adapter.validate_python(value)
    except ValidationError as error:
        if error.error_count() > MAX_FAULTS:
            detail = f"body: {error.error_count():,} parts are not valid or not known"
            raise Refused(422, InvalidInput.code, detail) from None
    return value


def _integer(digits: str) -> int:
    # A function of ours, so that other threads can run in between: reading 4,300 digits takes
    # nearly a millisecond, and a body has room for 1,900 such numbers.
    return int(digits)


def has_too_many_values(text: str) -> bool:
    """Whether a JSON text has more than `MAX_VALUES` values and keys, without parsing it."""
    if _structure(text) <= MAX_VALUES:
        return False
    # Most of it may be inside of texts, such as a table in a submission: leave these out.
    text = text.replace("\\\\", "").replace('\\"', "")
    if text.count('"') > 2 * MAX_VALUES:
        return True
    return _structure("".join(text.split('"')[::2])) > MAX_VALUES


def _structure(text: str) -> int:
    return sum(map(text.count, (",", ":", "[", "{")))
