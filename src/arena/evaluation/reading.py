"""Reads a standard, from a test's keys or from a JSON document of its own.

`read_standard` and `read_standard_document` are the only ways in. Both report every fault at once,
each with its path, so that the catalog can point at the line in the file.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from pydantic import StrictBool

from arena.documents.problem import KeyPath
from arena.documents.validation import Fault, type_name
from arena.errors import nearest
from arena.evaluation.fields import Body, InvalidStandard, Text, read
from arena.evaluation.standard import MIN_PASS_SCORE, VALIDATIONS, Part, Standard, is_graded

MAX_DEPTH = 8
"""How deep composites may nest."""
FLAGS = ("case_sensitive", "whole_word")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flags(Body):
    """How text is compared. Parts of a composite inherit what they do not say themselves."""

    case_sensitive: StrictBool | None = None
    whole_word: StrictBool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Type(Body):
    """What kind of standard a document holds."""

    type: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Test(Body):
    """A standard as a test writes it."""

    expected: Any
    validation: Text = "contains"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a reader is, and what the text around says."""

    at: KeyPath
    flags: _Flags
    depth: int = 0


def read_standard(
    validation: str,
    expected: object,
    *,
    case_sensitive: bool | None = None,
    whole_word: bool = False,
    pass_score: float | None = None,
) -> Standard:
    """The standard that `validation` and the body `expected` describe, or all their faults."""
    faults: list[Fault] = []
    flags = _Flags(case_sensitive=case_sensitive, whole_word=whole_word or None)
    place = _Place(at=("expected",), flags=flags)
    standard = _read(validation, ("validation",), expected, faults, place)
    if pass_score is not None and validation in VALIDATIONS:
        standard = _with_pass_score(validation, standard, expected, pass_score, faults)
    return _whole(standard, faults)


def read_standard_document(document: object) -> Standard:
    """The standard of a JSON document: `{"type": "test_cases", …}`, or all its faults."""
    faults: list[Fault] = []
    if not isinstance(document, Mapping):
        message = f"a standard is an object with a 'type', not {type_name(document)}"
        raise InvalidStandard([Fault(path=(), message=message)])
    body = cast(Mapping[object, object], document)
    return _whole(_member(body, faults, _Place(at=(), flags=_Flags())), faults)


def _whole(standard: Standard | None, faults: list[Fault]) -> Standard:
    if faults or standard is None:
        raise InvalidStandard(faults)
    return standard


def _with_pass_score(
    kind: str, standard: Standard | None, body: object, pass_score: float, faults: list[Fault]
) -> Standard | None:
    """The standard with the `pass_score` that its test gives it."""
    if "pass_score" not in _field_names(VALIDATIONS[kind]):
        why = "gives 100 or 0: a pass_score changes nothing; leave it out"
        if kind == "any_of":
            why = "passes where one of its parts does: give the parts the pass_score"
        faults.append(Fault(path=("pass_score",), message=f"{kind} {why}", of_key=True))
    elif standard is not None:
        own = cast(Mapping[str, object], body).get("pass_score", pass_score)
        if own != pass_score:
            message = f"is {own} here and {pass_score:g} in the test: say it once"
            faults.append(Fault(path=("expected", "pass_score"), message=message))
        return replace(cast(Any, standard), pass_score=pass_score)
    return standard


def _read(
    kind: str, kind_at: KeyPath, value: object, faults: list[Fault], here: _Place
) -> Standard | None:
    """A standard of the given kind; None with what is wrong in `faults`."""
    if kind not in VALIDATIONS:
        message = f"unknown {kind_at[-1]} {kind!r}{nearest(kind, VALIDATIONS)}"
        if "known:" not in message:
            message += f" (allowed: {', '.join(sorted(VALIDATIONS))})"
        faults.append(Fault(path=kind_at, message=message))
        return None
    if not isinstance(value, Mapping):
        faults.append(Fault(path=here.at, message=f"must be a mapping, is {type_name(value)}"))
        return None
    known = _field_names(VALIDATIONS[kind])
    flags = {name: getattr(here.flags, name) for name in FLAGS if name in known}
    body: dict[str, Any] = {name: flag for name, flag in flags.items() if flag is not None}
    body |= cast(Mapping[str, object], value)
    if kind in ("all_of", "any_of") and isinstance(body.get(kind), list):
        before = len(faults)
        body[kind] = _parts(kind, body[kind], faults, here)
        if len(faults) > before:
            return None
        if kind == "all_of" and any(is_graded(part.standard) for part in body[kind]):
            body.setdefault("pass_score", MIN_PASS_SCORE)
    return read(VALIDATIONS[kind], body, faults, here.at)


def _parts(key: str, members: list[object], faults: list[Fault], here: _Place) -> list[Part]:
    if here.depth >= MAX_DEPTH:
        message = f"is nested more than {MAX_DEPTH} deep"
        faults.append(Fault(path=(*here.at, key), message=message))
        return []
    parts: list[Part] = []
    for i, member in enumerate(members):
        inner = replace(here, at=(*here.at, key, i), depth=here.depth + 1)
        if not isinstance(member, Mapping):
            message = f"must be a mapping with 'validation' and 'expected', is {type_name(member)}"
            faults.append(Fault(path=inner.at, message=message))
            continue
        body = dict(cast(Mapping[object, object], member))
        weight = {"weight": body.pop("weight")} if "weight" in body else {}
        standard = _member(body, faults, inner)
        if part := read(Part, {"standard": standard, **weight}, faults, inner.at):
            parts.append(part)
    return parts


def _member(
    document: Mapping[object, object], faults: list[Fault], here: _Place
) -> Standard | None:
    """A standard in either form: with a `type`, or with `validation` and `expected`."""
    body = dict(document)
    own = read(_Flags, {name: body.pop(name) for name in FLAGS if name in body}, faults, here.at)
    for name in FLAGS:
        if own is not None and getattr(own, name) is not None:
            here = replace(here, flags=replace(here.flags, **{name: getattr(own, name)}))
    if "type" in body:
        kind = read(_Type, {"type": body.pop("type")}, faults, here.at)
        return kind and _read(kind.type, (*here.at, "type"), body, faults, here)
    if "expected" not in body:
        faults.append(Fault(path=here.at, message="needs the key 'expected' or 'type'"))
        return None
    test = read(_Test, body, faults, here.at)
    if test is None:
        return None
    inside = replace(here, at=(*here.at, "expected"))
    return _read(test.validation, (*here.at, "validation"), test.expected, faults, inside)


@functools.cache
def _field_names(kind: type[Standard]) -> frozenset[str]:
    return frozenset(one.name for one in fields(kind))
