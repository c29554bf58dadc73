"""Submissions that try to manipulate a judge, each with a harmless twin.

`injections.json` holds them in plain text, so that they can be read and extended: eight pieces of
mediocre work, and pairs of texts to insert. Both texts of a pair are inserted at the same place in
the same encoding; the twin's does not address a judge. So a difference in score comes from what the
text says, not from its presence.
"""

import base64
import codecs
import html
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import quote

from arena.evaluation.reading import read_standard_document
from arena.evaluation.standard import JudgePrompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Twins:
    """The same work twice: with an injection and without."""

    id: str
    kind: str
    language: str
    encoding: str
    standard: JudgePrompt
    injected: str
    harmless: str


@cache
def twins() -> tuple[Twins, ...]:
    """Every pair of the corpus."""
    source = resources.files(__package__ or "") / "injections.json"
    corpus: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    return tuple(_twins(pair, corpus["works"][pair["work"]]) for pair in corpus["pairs"])


def _twins(pair: Mapping[str, str], work: Mapping[str, Any]) -> Twins:
    standard = read_standard_document(work["standard"])
    assert isinstance(standard, JudgePrompt)
    encode = ENCODINGS[pair["encoding"]]

    def filled(payload: str) -> str:
        text = pair["template"].replace("{payload}", encode(payload))
        return text.replace("{work}", work["text"])

    return Twins(
        id=pair["id"],
        kind=pair["kind"],
        language=pair["language"],
        encoding=pair["encoding"],
        standard=standard,
        injected=filled(pair["payload"]),
        harmless=filled(pair["harmless"]),
    )


_LOOK_ALIKES = str.maketrans("aceiopsxy", "\u0430\u0441\u0435\u0456\u043e\u0440\u0455\u0445\u0443")
_LEET = str.maketrans("aeiost", "431057")
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_TAGS = {code: code + 0xE0000 for code in range(0x20, 0x7F)}
_RIGHT_TO_LEFT, _POP = "\u202e", "\u202c"
_NOTHING = "\u200b"


def _bidi(text: str) -> str:
    """Stored backwards, displayed forwards."""
    return f"{_RIGHT_TO_LEFT}{text[::-1]}{_POP}"


def _entities(text: str) -> str:
    return "".join(f"&#{ord(c)};" if c.isalpha() else html.escape(c) for c in text)


ENCODINGS: Mapping[str, Callable[[str], str]] = {
    "plain": str,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "hex": lambda text: text.encode().hex(),
    "percent": lambda text: quote(text, safe=""),
    "entities": _entities,
    "leet": lambda text: text.translate(_LEET),
    "homoglyph": lambda text: text.translate(_LOOK_ALIKES),
    "fullwidth": lambda text: text.translate(_FULL_WIDTH),
    "zero_width": lambda text: _NOTHING.join(text),
    "tags": lambda text: text.translate(_TAGS),
    "bidi": _bidi,
}
"""How the texts of a pair are disguised."""
