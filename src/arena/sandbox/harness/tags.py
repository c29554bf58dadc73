"""The way back: tagged JSON to the values a Python function is called with."""

from __future__ import annotations

import json
from math import inf, nan
from typing import Any

_SINGLE = {"nan": nan, "infinity": inf, "-infinity": -inf, "undefined": None}


def load(text: str) -> object:
    """The value `encode` wrote; undefined, which Python does not have, becomes None."""
    return json.loads(text, object_hook=_untag if '"$arena"' in text else None)


def _untag(document: dict[str, Any]) -> Any:
    tag = document.get("$arena")
    if not isinstance(tag, str):
        return document
    if tag in _SINGLE:
        return _SINGLE[tag]
    if tag == "set":
        return set(document["members"])
    return dict(document["entries"])
