"""The combinations of a matrix, and what rows and combinations are called in ids."""

import hashlib
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from arena.catalog.test import digest_of

MAX_LABEL = 60
"""Characters between the brackets of an id."""
DIGEST_DIGITS = 12
MAX_VARIANTS = 10_000
"""Combinations of a matrix."""


def label_of(text: str) -> str:
    """A text as a part of an id: what could not stand in a path or in brackets becomes a dash."""
    return shortened(re.sub(r"[^\w.-]", "-", text))


def shortened(label: str) -> str:
    """A label that is not too long; a digest keeps two that begin alike apart."""
    if len(label) <= MAX_LABEL:
        return label
    digest = hashlib.sha256(label.encode()).hexdigest()[:DIGEST_DIGITS]
    return f"{label[: MAX_LABEL - DIGEST_DIGITS - 1]}-{digest}"


def digest_label(value: Mapping[str, object]) -> str:
    """The label of a row that has no id."""
    return digest_of(value)[:DIGEST_DIGITS]


@dataclass(frozen=True, slots=True)
class Variant:
    """A combination of the values of a matrix."""

    label: str
    values: dict[str, Any]


NO_MATRIX = (Variant("", {}),)


def variants_of(matrix: Mapping[str, Sequence[object]]) -> tuple[Variant, ...]:
    """Every combination, the last name changing fastest."""
    axes = [[(name, value) for value in values] for name, values in matrix.items()]
    return tuple(
        Variant(",".join(_value_label(value) for _, value in chosen), dict(chosen))
        for chosen in itertools.product(*axes)
    )


def _value_label(value: object) -> str:
    if isinstance(value, dict):
        name = cast(dict[str, object], value).get("name")
        if isinstance(name, str) and name.strip():
            return label_of(name)
    if isinstance(value, dict | list):
        return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:8]
    return label_of(value if isinstance(value, str) else json.dumps(value))
