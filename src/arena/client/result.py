"""What an executor said, and what of it is the result.

{"resultHash": "Qm…", "resultPreview": "function…"}   the content behind the hash
{"result": "…"}                                       the full answer
anything else                                         is the full answer itself
"""

import json
from dataclasses import dataclass
from typing import cast

from arena.errors import AgentFault, AgentSaidNothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A result to be handed in: the text itself, or the CID of content that is in the store."""

    text: str | None = None
    result_hash: str | None = None

    def __post_init__(self) -> None:
        if (self.text is None) == (self.result_hash is None):
            raise ValueError("a result is a text or a hash: one of them")


def read_output(output: bytes) -> Result:
    """The result in what a program wrote. A preview is never a result."""
    try:
        text = output.decode()
    except UnicodeDecodeError as wrong:
        raise AgentFault(f"the output is not UTF-8 text (byte {wrong.start})") from None
    if not text.strip():
        raise AgentSaidNothing("the program wrote nothing to its standard output")
    document = _document(text)
    if document is None:
        # The line's end belongs to the printing, not to the answer.
        return Result(text=text.rstrip("\r\n"))
    if "resultHash" in document:
        named = document["resultHash"]
        if not isinstance(named, str) or not named.strip():
            raise AgentFault("resultHash must be a CID in quotes")
        return Result(result_hash=named.strip())
    answer = document["result"]
    said = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    if answer is None or not said.strip():
        raise AgentSaidNothing("the program's result is empty")
    return Result(text=said)


def _document(text: str) -> dict[str, object] | None:
    """The object with a result; None where the text is the answer, be it JSON or not."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not {"result", "resultHash"} & value.keys():
        return None
    return cast("dict[str, object]", value)
