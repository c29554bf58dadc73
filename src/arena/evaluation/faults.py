"""What is wrong with a standard, and where: every fault of a body at once, each with its path."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from arena.errors import InvalidInput, nearest
from arena.evaluation.text import fold
from arena.text import NOT_UNICODE, is_unicode

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


Path = tuple[str | int, ...]

MAX_JSON_DEPTH = 200
"""How deep a value in a standard may nest: as deep as what a function may return."""


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
        super().__init__(
            "; ".join(f"{dotted(f.path) or 'the standard'}: {f.message}" for f in self.faults)
        )


def dotted(path: Path) -> str:
    """A path as people write it: `expected.contains[2]`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How text is compared, and from where on it is enough; None leaves it to the standard."""

    case_sensitive: bool | None = None
    whole_word: bool = False
    pass_score: float | None = None
    """What a test asks for beside its standard's body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """Where a reader is, and where it writes down what is wrong."""

    at: Path
    faults: list[Fault]
    options: Options
    depth: int = 0

    def inside(self, *steps: str | int) -> "Body":
        """The body at `steps` from here."""
        return replace(self, at=(*self.at, *steps))

    def part(self, key: str, index: int) -> "Body":
        """The body of a composite's member; what a test says of the whole is not for it."""
        options = replace(self.options, pass_score=None)
        return replace(self.inside(key, index), options=options, depth=self.depth + 1)

    def with_options(self, options: Options) -> "Body":
        """The same place, read with other options."""
        return replace(self, options=options)

    def fault(self, path: Path, message: str, *, of_key: bool = False) -> None:
        """Write down what is wrong at `path` from here."""
        self.faults.append(Fault(path=(*self.at, *path), message=message, of_key=of_key))

    def only(
        self,
        body: Mapping[object, object],
        *,
        needs: str,
        allows: Sequence[str] = (),
        instead: str | None = None,
    ) -> bool:
        """Check the keys: `needs` must be there, and nothing beside `allows`."""
        known = (needs, *allows)
        for key in body:
            if key not in known:
                hint = nearest(str(key), known)
                self.fault((str(key),), f"unknown key {key!r}{hint}", of_key=True)
        if needs not in body:
            self.fault((), f"needs the key {needs!r}" + (f" or {instead!r}" if instead else ""))
        return needs in body

    def text(self, value: object, path: Path) -> str | None:
        """`value` as text that is more than white space."""
        if not isinstance(value, str):
            hint = ": quote it" if isinstance(value, bool | int | float) else ""
            self.fault(path, f"must be a string, is {name_of(value)}{hint}")
            return None
        if not fold(value):
            self.fault(path, "must not be empty")
            return None
        if not is_unicode(value):
            self.fault(path, NOT_UNICODE)
            return None
        return value

    def number(self, value: object, path: Path) -> float | None:
        """`value` as a finite number; true is not one."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fault(path, f"must be a number, is {name_of(value)}")
            return None
        try:
            figure = float(value)
        except OverflowError:  # a whole number of hundreds of digits
            figure = math.inf
        if not math.isfinite(figure):
            self.fault(path, "must be a finite number")
            return None
        return figure

    def pass_score(self, body: Mapping[object, object]) -> float | None:
        """The score that is enough: the body's own, or the test's; None where neither says."""
        given = self.options.pass_score
        if "pass_score" not in body:
            return given
        own = self.number(body["pass_score"], ("pass_score",))
        if own is not None and not 0 < own <= 100:
            self.fault(("pass_score",), f"must be above 0 and at most 100, is {own:g}")
        if own is not None and given is not None and own != given:
            self.fault(("pass_score",), f"is {own:g} here and {given:g} in the test: say it once")
        return own

    def json(self, value: object, path: Path, depth: int = 0) -> bool:
        """Whether JSON can hold `value`, at any depth; a fault for each place where it cannot."""
        if depth > MAX_JSON_DEPTH:
            # The place itself would be a path of hundreds of steps.
            self.fault(path[:-depth], f"is nested more than {MAX_JSON_DEPTH} deep")
            return False
        if isinstance(value, Mapping):
            found = True
            for key, inner in cast(Mapping[object, object], value).items():
                if not isinstance(key, str) or not is_unicode(key):
                    self.fault(path, f"JSON has text keys only, not {key!r}")
                    found = False
                else:
                    found &= self.json(inner, (*path, key), depth + 1)
            return found
        if isinstance(value, list):
            listed = cast(list[object], value)
            return all([self.json(inner, (*path, i), depth + 1) for i, inner in enumerate(listed)])
        fault = _scalar_fault(value)
        if fault:
            self.fault(path, fault)
        return not fault


def _scalar_fault(value: object) -> str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return f"JSON has no {value}"
    if isinstance(value, str):
        return None if is_unicode(value) else NOT_UNICODE
    if value is None or isinstance(value, bool | int | float):
        return None
    return f"JSON has no {name_of(value)}: quote it"


def name_of(value: object) -> str:
    """What kind of value it is, in words."""
    return TYPE_NAMES.get(type(value), type(value).__name__)
