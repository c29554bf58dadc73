"""Reads a standard, from a test's keys or from a JSON document.

`read_standard` and `read_standard_document` are the entry points. Both report all faults at once,
each with its path, so that the catalog can point to the line in the file. `read_document` is for
event loops.
"""

import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from pydantic import StrictBool

from arena.documents.problem import KeyPath
from arena.documents.validation import Fault, type_name
from arena.errors import InvalidInput, nearest
from arena.evaluation.fields import Body, InvalidStandard, Text, read
from arena.evaluation.grader import Packaged
from arena.evaluation.standard import VALIDATIONS, Part, Standard, is_graded
from arena.evaluation.verdict import MIN_PASS_SCORE
from arena.pools.effort import effort
from arena.pools.workers import SMALL_EFFORT, TooMuchWork, off_loop

MAX_DEPTH = 8
"""How deep composites may nest."""
FLAGS = ("case_sensitive", "whole_word")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flags(Body):
    """How text is compared. Parts of a composite inherit the flags they do not set."""

    case_sensitive: StrictBool | None = None
    whole_word: StrictBool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Typed(Body):
    type: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Test(Body):
    expected: Any
    validation: Text = "contains"


def read_standard(
    validation: str,
    expected: object,
    *,
    case_sensitive: bool | None = None,
    whole_word: bool = False,
    pass_score: float | None = None,
) -> Standard:
    """The standard that `validation` and the body `expected` describe, or all their faults."""
    # False is the default of a test, so it must not override the parts of a composite.
    flags = _Flags(case_sensitive=case_sensitive, whole_word=whole_word or None)
    reader = _Reader(faults=[], flags=flags)
    standard = reader.body(validation, "validation", expected, "expected")
    if pass_score is not None and (validation in VALIDATIONS or standard is not None):
        standard = reader.with_pass_score(validation, standard, expected, pass_score)
    return reader.result(standard)


def read_standard_document(document: object) -> Standard:
    """The standard of a JSON document: `{"type": "test_cases", …}`, or all its faults."""
    reader = _Reader(faults=[], flags=_Flags())
    if not isinstance(document, Mapping):
        reader.fault(f"a standard is an object with a 'type', not {type_name(document)}")
        return reader.result(None)
    return reader.result(reader.document(cast(Mapping[object, object], document)))


async def read_document(
    document: object, read: Callable[[object], Standard] = read_standard_document
) -> Standard:
    """The standard of a document; a large one is read in a worker process."""
    try:
        # A small one in a thread: compiling a pattern may take longer than the rest of a request.
        return await off_loop(effort(document, limit=SMALL_EFFORT), read, document)
    except TooMuchWork as error:
        raise InvalidInput(f"the standard cannot be used: reading it {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Reads at one path of a document; collects the faults."""

    faults: list[Fault]
    flags: _Flags
    at: KeyPath = ()
    depth: int = 0

    def fault(self, message: str, *path: str | int, of_key: bool = False) -> None:
        """Report a fault at `path`, relative to here."""
        self.faults.append(Fault(path=(*self.at, *path), message=message, of_key=of_key))

    def result(self, standard: Standard | None) -> Standard:
        """The standard; an error if there are faults."""
        if self.faults or standard is None:
            raise InvalidStandard(self.faults)
        return standard

    def document(self, document: Mapping[object, object]) -> Standard | None:
        """A standard in either form: with a `type`, or with `validation` and `expected`."""
        body = dict(document)
        flags = {name: body.pop(name) for name in FLAGS if name in body}
        own = read(_Flags, flags, self.faults, self.at) or self.flags
        explicit = {name: flag for name in FLAGS if (flag := getattr(own, name)) is not None}
        reader = replace(self, flags=replace(self.flags, **explicit))
        if "type" in body:
            typed = read(_Typed, {"type": body.pop("type")}, self.faults, self.at)
            return typed and reader.body(typed.type, "type", body)
        if "expected" not in body:
            self.fault("needs the key 'expected' or 'type'")
            return None
        test = read(_Test, body, self.faults, self.at)
        return test and reader.body(test.validation, "validation", test.expected, "expected")

    def body(self, kind: str, key: str, value: object, *path: str) -> Standard | None:
        """A standard of this kind, whose body is at `path` from here; `key` is for messages."""
        installed = () if kind in VALIDATIONS else _installed()
        if kind not in VALIDATIONS and kind not in installed:
            known = [*VALIDATIONS, *installed]
            message = f"unknown {key} {kind!r}{nearest(kind, known)}"
            if "known:" not in message:
                message += f" (allowed: {', '.join(sorted(known))})"
            self.fault(message, key)
            return None
        if not isinstance(value, Mapping):
            self.fault(f"must be a mapping, is {type_name(value)}", *path)
            return None
        if installed:
            return self._packaged(kind, dict(cast(Mapping[str, object], value)), *path)
        known = _field_names(VALIDATIONS[kind])
        flags = {name: getattr(self.flags, name) for name in FLAGS if name in known}
        body: dict[str, Any] = {name: flag for name, flag in flags.items() if flag is not None}
        body |= cast(Mapping[str, object], value)
        at = (*self.at, *path)
        if kind in ("all_of", "any_of") and isinstance(body.get(kind), list):
            # Before pydantic reads it: a part may have either form, and inherits the flags.
            before = len(self.faults)
            body[kind] = replace(self, at=at).parts(kind, body[kind])
            if len(self.faults) > before:
                return None
            if kind == "all_of" and any(is_graded(part.standard) for part in body[kind]):
                body.setdefault("pass_score", MIN_PASS_SCORE)
        if kind == "reply" and isinstance(body.get("standard"), Mapping):
            before = len(self.faults)
            inner = replace(self, at=(*at, "standard"), depth=self.depth + 1)
            body["standard"] = inner.document(cast(Mapping[object, object], body["standard"]))
            if len(self.faults) > before:
                return None
        return read(VALIDATIONS[kind], body, self.faults, at)

    def _packaged(self, name: str, body: dict[str, object], *path: str) -> Standard | None:
        """A validator of an installed package; its body is its own business."""
        own = {"pass_score": body.pop("pass_score")} if "pass_score" in body else {}
        faults: list[Fault] = []
        at = (*self.at, *path)
        standard = read(Packaged, {"name": name, "expected": body, **own}, faults, at)
        # The body is the mapping itself, without a key `expected` of its own.
        for fault in faults:
            inner = fault.path[len(at) :]
            inside = inner[1:] if inner[:1] == ("expected",) else inner
            self.faults.append(replace(fault, path=(*at, *inside)))
        return standard

    def parts(self, key: str, members: list[object]) -> list[Part]:
        """The valid members of a composite."""
        if self.depth >= MAX_DEPTH:
            self.fault(f"is nested more than {MAX_DEPTH} deep", key)
            return []
        parts: list[Part] = []
        for i, member in enumerate(members):
            here = replace(self, at=(*self.at, key, i), depth=self.depth + 1)
            if not isinstance(member, Mapping):
                expected = "a mapping with 'validation' and 'expected'"
                here.fault(f"must be {expected}, is {type_name(member)}")
                continue
            body = dict(cast(Mapping[object, object], member))
            weight = {"weight": body.pop("weight")} if "weight" in body else {}
            standard = here.document(body)
            if part := read(Part, {"standard": standard, **weight}, self.faults, here.at):
                parts.append(part)
        return parts

    def with_pass_score(
        self, kind: str, standard: Standard | None, body: object, pass_score: float
    ) -> Standard | None:
        """The standard with the `pass_score` of its test."""
        if "pass_score" not in _field_names(VALIDATIONS.get(kind, Packaged)):
            why = "gives 100 or 0: a pass_score changes nothing; leave it out"
            if kind in ("any_of", "reply"):
                why = "passes where one of its parts does: give the parts the pass_score"
            self.fault(f"{kind} {why}", "pass_score", of_key=True)
        elif standard is not None:
            own = cast(Mapping[str, object], body).get("pass_score", pass_score)
            if own != pass_score:
                message = f"is {own} here and {pass_score:g} in the test: say it once"
                self.fault(message, "expected", "pass_score")
            return replace(cast(Any, standard), pass_score=pass_score)
        return standard


def _installed() -> Collection[str]:
    """The validators of installed packages; looked for only if a name is not built in."""
    from arena.evaluation.packaged import installed_validators

    return installed_validators()


@functools.cache
def _field_names(kind: type[Standard]) -> frozenset[str]:
    return frozenset(one.name for one in fields(kind))
