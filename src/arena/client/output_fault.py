"""Finds output of a program that is plainly not its answer, before it is submitted for good.

A result can be submitted once, so what is an error message, or a result among other output, is
refused: the program runs again. An answer that only looks like one of these can always be given as
`{"result": "…"}`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

FORMS = frozenset({"result", "resultHash", "resultPreview"})
FAILED = frozenset({"error", "failed", "failure"})
REPORT_KEYS = frozenset({"status", "success", "ok", "message", "code", "detail", "details"})
"""Keys of an object that only reports how the work went."""
MAX_CANDIDATES = 50
"""Places where an object with a result is looked for, from the start and from the end."""

CRASHES = re.compile(
    r"""
    ^Traceback\ \(most\ recent\ call\ last\):\n[ ]+File\ "                           # Python
    | ^.{0,300}?(?:Error|Exception)\b.{0,1000}\n[ \t]+at\ \S.{0,1000}?:\d+   # JavaScript, Java
    | ^panic:\ .{0,1000}\n\n?goroutine\ \d+\ \[                                    # Go
    | ^thread\ '.{0,100}'\ panicked\ at                                          # Rust
    """,
    re.MULTILINE | re.VERBOSE,
)
"""Stack traces; with bounds, because an answer may be one line of megabytes."""
ONE_LINE_ERROR = re.compile(
    r"\[?(?:fatal |internal |runtime )?(?:error|exception|fatal|panic|critical)(?:\]|:)"
    r"|[a-z_.]*(?:error|exception): ",
    re.IGNORECASE,
)
BROKEN_JSON = re.compile(r"""\{\s*["']?(?:result|resultHash|resultPreview|error)["']?\s*:""")
OBJECT = re.compile(
    r"""^[ \t]*(?:(?:\[|\d{4}-\d\d|\d\d:\d\d|INFO|DEBUG|WARN|ERROR|TRACE)[^{\n]*)?(?=\{)""",
    re.MULTILINE,
)
"""The start of a line that begins with an object, also after a log's prefix."""

_decoder = json.JSONDecoder()


def text_fault(text: str) -> str | None:
    """Why a text is not an answer; None if it may be one."""
    stripped = text.strip()
    if CRASHES.search(stripped):
        return "the program printed a stack trace instead of an answer"
    if "\n" not in stripped and ONE_LINE_ERROR.match(stripped):
        return "the program printed an error message instead of an answer"
    if '"result' in text and any(FORMS & found.keys() for found in _objects(text)):
        return "the output has a JSON object with a result, and other lines around it"
    if BROKEN_JSON.match(stripped):
        return "the output begins like a JSON object with a result, but is not JSON"
    return None


def object_fault(document: Mapping[str, Any]) -> str | None:
    """Why a JSON object is not an answer; None if it is one, or refers to one."""
    if document.get("error"):
        return "the program printed a JSON object with an error"
    if "resultPreview" in document and not {"result", "resultHash"} & document.keys():
        return "a resultPreview is not a result: print result or resultHash"
    has_failed = document.get("status") in FAILED or any(
        document.get(key) is False for key in ("success", "ok")
    )
    if has_failed and document.keys() <= REPORT_KEYS | {"error"}:
        return "the program printed a JSON object that reports a failure"
    return None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects that begin at the start of a line."""
    starts = [match.end() for match in OBJECT.finditer(text)]
    for start in dict.fromkeys([*starts[:MAX_CANDIDATES], *starts[-MAX_CANDIDATES:]]):
        try:
            value, _ = _decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield cast("dict[str, Any]", value)
