"""What a good answer is: a closed set of standards, read from the body a test file gives.

`read_standard` is the only way in. It reports every fault of a body at once, each with the path to
it, so that the catalog can point at the line in the file.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from arena.errors import InvalidInput, nearest
from arena.evaluation.json_schema import schema_fault
from arena.evaluation.pattern import pattern_fault
from arena.evaluation.text import fold

TYPE_NAMES: dict[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
    type(None): "nothing",
}
"""What a value of a YAML or JSON file is called when it is in the wrong place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """The answer is this text, apart from white space around it."""

    value: str
    case_sensitive: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Keywords:
    """The answer has all, any or none of these words."""

    keywords: tuple[str, ...]
    needed: Literal["all", "any", "none"]
    case_sensitive: bool = False
    whole_word: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A regular expression is found in the answer."""

    pattern: str
    case_sensitive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSchema:
    """The answer is JSON that fits a schema."""

    schema: Mapping[str, object] | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """The last number in the answer is this one, give or take the tolerance."""

    value: float
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """Several standards at once."""

    needed: Literal["all", "any"]
    parts: tuple["Standard", ...]
    weights: tuple[float, ...]


Standard = Exact | Keywords | Pattern | JsonSchema | Number | Composite

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with a standard, and the way to it from the test's own keys."""

    path: Path
    message: str
    of_key: bool = False
    """Whether the last step's key itself is wrong, not its value."""


class InvalidStandard(InvalidInput):
    """A standard cannot be used."""

    code = "invalid_standard"

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"{dotted(f.path)}: {f.message}" for f in self.faults))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How text is compared; None leaves it to the validator."""

    case_sensitive: bool | None = None
    whole_word: bool = False


def read_standard(
    validation: str,
    expected: object,
    *,
    case_sensitive: bool | None = None,
    whole_word: bool = False,
) -> Standard:
    """The standard that `validation` and the body `expected` describe, or all their faults."""
    faults: list[Fault] = []
    options = Options(case_sensitive=case_sensitive, whole_word=whole_word)
    standard = _read(validation, expected, options, (), faults)
    if faults or standard is None:
        raise InvalidStandard(faults)
    return standard


def dotted(path: Path) -> str:
    """A path as people write it: `expected.contains[2]`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


MAX_DEPTH = 8
"""How deep composites may nest."""
MAX_WEIGHT = 1e6
"""The weight of a composite's part; the sum of the weights must stay a number."""


def _read(
    validation: str, expected: object, options: Options, at: Path, faults: list[Fault]
) -> Standard | None:
    """One standard; what is wrong goes to `faults`."""
    reader = VALIDATIONS.get(validation)
    if reader is None:
        message = f"unknown validation {validation!r}{nearest(validation, VALIDATIONS)}"
        if "known:" not in message:
            message += f" (allowed: {', '.join(sorted(VALIDATIONS))})"
        faults.append(Fault(path=(*at, "validation"), message=message))
        return None
    body = _Body(at=(*at, "expected"), faults=faults, options=options)
    if not isinstance(expected, dict):
        body.fault((), f"must be a mapping, is {_name(expected)}")
        return None
    before = len(faults)
    standard = reader(cast(dict[object, object], expected), body)
    return standard if len(faults) == before else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Body:
    """Where a reader is, and where it writes down what is wrong."""

    at: Path
    faults: list[Fault]
    options: Options

    def fault(self, path: Path, message: str, *, of_key: bool = False) -> None:
        self.faults.append(Fault(path=(*self.at, *path), message=message, of_key=of_key))

    def only(
        self, body: Mapping[object, object], *, needs: str, allows: Sequence[str] = ()
    ) -> bool:
        """Check the keys: `needs` must be there, and nothing beside `allows`."""
        known = (needs, *allows)
        for key in body:
            if key not in known:
                hint = nearest(str(key), known)
                self.fault((str(key),), f"unknown key {key!r}{hint}", of_key=True)
        if needs not in body:
            self.fault((), f"needs the key {needs!r}")
        return needs in body

    def text(self, value: object, path: Path) -> str | None:
        """`value` as text that is more than white space."""
        if not isinstance(value, str):
            hint = ": quote it" if isinstance(value, bool | int | float) else ""
            self.fault(path, f"must be a string, is {_name(value)}{hint}")
            return None
        if not fold(value):
            self.fault(path, "must not be empty")
            return None
        return value

    def number(self, value: object, path: Path) -> float | None:
        """`value` as a finite number; true is not one."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fault(path, f"must be a number, is {_name(value)}")
            return None
        try:
            figure = float(value)
        except OverflowError:  # a whole number of hundreds of digits
            figure = math.inf
        if not math.isfinite(figure):
            self.fault(path, "must be a finite number")
            return None
        return figure


def _name(value: object) -> str:
    return TYPE_NAMES.get(type(value), type(value).__name__)


def _exact(body: dict[object, object], here: _Body) -> Standard | None:
    if not here.only(body, needs="value"):
        return None
    value = here.text(body["value"], ("value",))
    if value is None:
        return None
    sensitive = here.options.case_sensitive
    return Exact(value=value, case_sensitive=True if sensitive is None else sensitive)


def _keywords(needed: Literal["all", "any", "none"]) -> "Reader":
    def read(body: dict[object, object], here: _Body) -> Standard | None:
        if not here.only(body, needs="contains"):
            return None
        words = body["contains"]
        if not isinstance(words, list):
            here.fault(("contains",), f"must be a list of strings, is {_name(words)}")
            return None
        listed = cast(list[object], words)
        if not listed:
            here.fault(("contains",), "must name at least one keyword")
        read_words = [here.text(word, ("contains", i)) for i, word in enumerate(listed)]
        return Keywords(
            keywords=tuple(word for word in read_words if word is not None),
            needed=needed,
            case_sensitive=here.options.case_sensitive or False,
            whole_word=here.options.whole_word,
        )

    return read


def _pattern(body: dict[object, object], here: _Body) -> Standard | None:
    if not here.only(body, needs="pattern"):
        return None
    pattern = here.text(body["pattern"], ("pattern",))
    if pattern is None:
        return None
    wrong = pattern_fault(pattern)
    if wrong:
        here.fault(("pattern",), wrong)
        return None
    return Pattern(pattern=pattern, case_sensitive=here.options.case_sensitive or False)


def _json_schema(body: dict[object, object], here: _Body) -> Standard | None:
    if not here.only(body, needs="schema"):
        return None
    schema = body["schema"]
    if not isinstance(schema, dict | bool):
        here.fault(("schema",), f"must be a mapping, is {_name(schema)}")
        return None
    wrong = schema_fault(cast(Mapping[str, object] | bool, schema))
    if wrong:
        here.fault(("schema",), f"is not a JSON Schema: {wrong}")
    return JsonSchema(schema=cast(Mapping[str, object] | bool, schema))


def _number(body: dict[object, object], here: _Body) -> Standard | None:
    if not here.only(body, needs="value", allows=("tolerance",)):
        return None
    value = here.number(body["value"], ("value",))
    tolerance = here.number(body.get("tolerance", 0), ("tolerance",))
    if tolerance is not None and tolerance < 0:
        here.fault(("tolerance",), f"must be 0 or more, is {tolerance:g}")
    if value is None or tolerance is None:
        return None
    return Number(value=value, tolerance=tolerance)


PART_KEYS = ("validation", "expected", "case_sensitive", "whole_word", "weight")


def _composite(needed: Literal["all", "any"]) -> "Reader":
    key = f"{needed}_of"

    def read(body: dict[object, object], here: _Body) -> Standard | None:
        if not here.only(body, needs=key):
            return None
        parts = body[key]
        if not isinstance(parts, list) or not parts:
            here.fault((key,), "must be a list of at least one standard")
            return None
        # A path grows by three steps a level: all_of, an index, expected.
        if len(here.at) > 3 * MAX_DEPTH:
            here.fault((key,), f"is nested more than {MAX_DEPTH} deep")
            return None
        listed = cast(list[object], parts)
        read_parts = [_part(part, here, (key, i)) for i, part in enumerate(listed)]
        kept = [part for part in read_parts if part is not None]
        weights = tuple(weight for _, weight in kept)
        if kept and sum(weights) <= 0:
            here.fault((key,), "the weights must not all be 0")
        return Composite(needed=needed, parts=tuple(part for part, _ in kept), weights=weights)

    return read


def _part(part: object, here: _Body, at: Path) -> tuple[Standard, float] | None:
    """One member of a composite, with its weight."""
    if not isinstance(part, dict):
        here.fault(at, f"must be a mapping with 'validation' and 'expected', is {_name(part)}")
        return None
    body = cast(dict[object, object], part)
    inner = _Body(at=(*here.at, *at), faults=here.faults, options=here.options)
    has_expected = inner.only(body, needs="expected", allows=PART_KEYS)
    weight = inner.number(body.get("weight", 1), ("weight",))
    if weight is not None and not 0 <= weight <= MAX_WEIGHT:
        inner.fault(("weight",), f"must be from 0 to {MAX_WEIGHT:g}, is {weight:g}")
    flags: dict[str, bool | None] = {
        "case_sensitive": here.options.case_sensitive,
        "whole_word": here.options.whole_word,
    }
    for flag in flags:
        if flag in body:
            if not isinstance(body[flag], bool):
                inner.fault((flag,), f"must be true or false, is {_name(body[flag])}")
            flags[flag] = bool(body[flag])
    options = Options(case_sensitive=flags["case_sensitive"], whole_word=bool(flags["whole_word"]))
    validation = inner.text(body.get("validation", "contains"), ("validation",))
    if not has_expected or validation is None:
        return None
    standard = _read(validation, body["expected"], options, inner.at, here.faults)
    return None if standard is None or weight is None else (standard, weight)


Reader = Callable[[dict[object, object], _Body], Standard | None]

VALIDATIONS: dict[str, Reader] = {
    "exact": _exact,
    "contains": _keywords("all"),
    "contains_any": _keywords("any"),
    "not_contains": _keywords("none"),
    "regex": _pattern,
    "json_schema": _json_schema,
    "number": _number,
    "all_of": _composite("all"),
    "any_of": _composite("any"),
}
"""Every `validation` a test may name, with the reader of its body."""
