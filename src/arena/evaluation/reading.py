"""Reads a standard, from a test's keys or from a JSON document of its own.

`read_standard` and `read_standard_document` are the only ways in. Both report every fault at once,
each with the path to it, so that the catalog can point at the line in the file.
"""

from collections.abc import Callable, Mapping
from typing import Literal, cast

from arena.errors import nearest
from arena.evaluation import graded, plain
from arena.evaluation.faults import Body, Fault, InvalidStandard, Options, Path, name_of
from arena.evaluation.standard import MIN_PASS_SCORE, Composite, Standard, is_graded

MAX_DEPTH = 8
"""How deep composites may nest."""
MAX_WEIGHT = 1e6
"""The weight of a composite's part; the sum of the weights must stay a number."""
FLAGS = ("case_sensitive", "whole_word")


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
    options = Options(case_sensitive=case_sensitive, whole_word=whole_word, pass_score=pass_score)
    here = Body(at=("expected",), faults=faults, options=options)
    standard = _read(validation, ("validation",), expected, here)
    if pass_score is not None and (validation in plain.READERS or validation == "any_of"):
        why = "gives 100 or 0: a pass_score changes nothing; leave it out"
        if validation == "any_of":
            why = "passes where one of its parts does: give the parts the pass_score"
        message = f"{validation} {why}"
        faults.append(Fault(path=("pass_score",), message=message, of_key=True))
    return _whole(standard, faults)


def read_standard_document(document: object) -> Standard:
    """The standard of a JSON document: `{"type": "test_cases", …}`, or all its faults."""
    faults: list[Fault] = []
    here = Body(at=(), faults=faults, options=Options())
    if not isinstance(document, Mapping):
        here.fault((), f"a standard is an object with a 'type', not {name_of(document)}")
        return _whole(None, faults)
    return _whole(_member(cast(Mapping[object, object], document), here), faults)


def _whole(standard: Standard | None, faults: list[Fault]) -> Standard:
    if faults or standard is None:
        raise InvalidStandard(faults)
    return standard


def _read(kind: str, kind_at: Path, value: object, here: Body) -> Standard | None:
    """One standard of the given kind; what is wrong goes to the body's faults."""
    reader = VALIDATIONS.get(kind)
    if reader is None:
        name = kind_at[-1]
        message = f"unknown {name} {kind!r}{nearest(kind, VALIDATIONS)}"
        if "known:" not in message:
            message += f" (allowed: {', '.join(sorted(VALIDATIONS))})"
        here.faults.append(Fault(path=kind_at, message=message))
        return None
    if not isinstance(value, dict):
        here.fault((), f"must be a mapping, is {name_of(value)}")
        return None
    before = len(here.faults)
    standard = reader(cast(dict[object, object], value), here)
    return standard if len(here.faults) == before else None


def _composite(needed: Literal["all", "any"]) -> "Reader":
    key = f"{needed}_of"

    def read(body: dict[object, object], here: Body) -> Standard | None:
        if not here.only(body, needs=key, allows=("pass_score",) if needed == "all" else ()):
            return None
        parts = body[key]
        if not isinstance(parts, list) or not parts:
            here.fault((key,), "must be a list of at least one standard")
            return None
        if here.depth >= MAX_DEPTH:
            here.fault((key,), f"is nested more than {MAX_DEPTH} deep")
            return None
        listed = cast(list[object], parts)
        kept = [part for i, one in enumerate(listed) if (part := _part(one, here.part(key, i)))]
        weights = tuple(weight for _, weight in kept)
        if kept and sum(weights) <= 0:
            here.fault((key,), "the weights must not all be 0")
        pass_score = here.pass_score(body) if needed == "all" else None
        read_parts = tuple(part for part, _ in kept)
        if pass_score is None and needed == "all" and any(map(is_graded, read_parts)):
            pass_score = MIN_PASS_SCORE
        return Composite(needed=needed, parts=read_parts, weights=weights, pass_score=pass_score)

    return read


def _part(part: object, here: Body) -> tuple[Standard, float] | None:
    """One member of a composite, with its weight."""
    if not isinstance(part, Mapping):
        here.fault((), f"must be a mapping with 'validation' and 'expected', is {name_of(part)}")
        return None
    body = dict(cast(Mapping[object, object], part))
    weight = here.number(body.pop("weight", 1), ("weight",))
    if weight is not None and not 0 <= weight <= MAX_WEIGHT:
        here.fault(("weight",), f"must be from 0 to {MAX_WEIGHT:g}, is {weight:g}")
    standard = _member(body, here)
    return None if standard is None or weight is None else (standard, weight)


def _member(part: Mapping[object, object], here: Body) -> Standard | None:
    """A standard in either form: with a `type`, or with `validation` and `expected`."""
    body = dict(part)
    inner = here.with_options(_options(body, here))
    if "type" in body:
        kind = here.text(body.pop("type"), ("type",))
        return None if kind is None else _read(kind, (*here.at, "type"), body, inner)
    allowed = ("validation", *FLAGS, "weight")
    if not here.only(body, needs="expected", allows=allowed, instead="type"):
        return None
    kind = here.text(body.get("validation", "contains"), ("validation",))
    if kind is None:
        return None
    return _read(kind, (*here.at, "validation"), body["expected"], inner.inside("expected"))


def _options(body: dict[object, object], here: Body) -> Options:
    """The flags of a member, taken out of its body; those it does not name it inherits."""
    flags: dict[str, bool | None] = {
        "case_sensitive": here.options.case_sensitive,
        "whole_word": here.options.whole_word,
    }
    for flag in FLAGS:
        if flag in body:
            value = body.pop(flag)
            if not isinstance(value, bool):
                here.fault((flag,), f"must be true or false, is {name_of(value)}")
            flags[flag] = bool(value)
    return Options(case_sensitive=flags["case_sensitive"], whole_word=bool(flags["whole_word"]))


Reader = Callable[[dict[object, object], Body], Standard | None]

VALIDATIONS: dict[str, Reader] = {
    **plain.READERS,
    **graded.READERS,
    "all_of": _composite("all"),
    "any_of": _composite("any"),
}
"""Every `validation` a test may name, every `type` a document may have, with its reader."""
