"""How the body of a standard is read: the kinds of field, and every fault with its path.

A standard is a dataclass whose annotations say what each field may hold; pydantic checks it. `read`
turns pydantic's errors into faults that say where (so that the catalog can point at the line of a
file) and what to write instead.
"""

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Annotated, Any, ClassVar, TypeVar, cast, get_args, get_type_hints

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PlainValidator,
    Strict,
    TypeAdapter,
    ValidationError,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from arena.errors import InvalidInput, nearest
from arena.evaluation.text import fold
from arena.text import NOT_UNICODE, is_unicode

MAX_JSON_DEPTH = 200
"""How deep a value in a standard may nest: as deep as what a function may return."""

TYPE_NAMES: dict[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
    type(None): "nothing",
}
"""What a value of a YAML or JSON file is called in a message."""

MESSAGES = {
    "string_type": "must be a string, is {type}",
    "string_unicode": NOT_UNICODE,
    "bool_type": "must be true or false, is {type}",
    "int_type": "must be a whole number, is {type}",
    "tuple_type": "must be a list, is {type}",
    "list_type": "must be a list, is {type}",
    "dict_type": "must be a mapping, is {type}",
    "dataclass_type": "must be a mapping, is {type}",
    "too_short": "must not be empty",
    "too_long": "has {actual_length} entries, at most {max_length} are allowed",
    "greater_than": "must be above {gt:g}, is {input:g}",
    "greater_than_equal": "must be {ge:g} or more, is {input:g}",
    "less_than_equal": "must be at most {le:g}, is {input:g}",
}
"""What to say instead of pydantic's own words, by the type of its error."""

Path = tuple[str | int, ...]
T = TypeVar("T")
B = TypeVar("B", bound="Body")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with a standard, and the path to it from the keys of the test."""

    path: Path
    message: str
    of_key: bool = False
    """Whether the last key of the path itself is wrong, not its value."""


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


def type_name(value: object) -> str:
    """What kind of value it is, in words."""
    return TYPE_NAMES.get(type(value), type(value).__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A mapping in a standard. An unknown key in it is a fault."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    def faults(self) -> Iterator[Fault]:
        """What is wrong between fields that are each right by themselves."""
        return iter(())


def read(kind: type[B], body: object, faults: list[Fault], at: Path = ()) -> B | None:
    """The body as a value of the dataclass `kind`; None with all that is wrong in `faults`."""
    before = len(faults)
    try:
        value: B = _adapter(kind).validate_python(body)
    except ValidationError as error:
        # pydantic also calls a list too short whose only entries are invalid.
        faults += [
            _fault(one, kind, at)
            for one in error.errors(include_url=False)
            if one["type"] != "too_short" or not one["input"]
        ]
        return None
    faults += [replace(fault, path=(*at, *fault.path)) for fault in value.faults()]
    return value if len(faults) == before else None


@functools.cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    # Made when first needed: it takes a millisecond, and most commands read few kinds or none.
    return TypeAdapter(kind)


def _fault(error: ErrorDetails, kind: type, at: Path) -> Fault:
    path = (*at, *error["loc"])
    match error["type"]:
        case "missing":
            return Fault(path=path[:-1], message=f"needs the key {path[-1]!r}")
        case "unexpected_keyword_argument" | "invalid_key":
            hint = nearest(str(path[-1]), _keys(kind, error["loc"][:-1]))
            path = (*path[:-1], str(path[-1]))
            return Fault(path=path, message=f"unknown key {error['loc'][-1]!r}{hint}", of_key=True)
        case known if known in MESSAGES:
            given: object = error["input"]
            context = {**error.get("ctx", {}), "input": given, "type": type_name(given)}
            message = MESSAGES[known].format(**context)
            if known == "string_type" and isinstance(given, bool | int | float):
                message += ": quote it"
            return Fault(path=path, message=message)
        case _:
            return Fault(path=path, message=error["msg"])


def _keys(kind: Any, path: Path) -> list[str]:
    """The keys of the mapping at `path` in a body of the given kind."""
    for step in path:
        if isinstance(step, str):
            kind = _inner_class(get_type_hints(kind).get(step))
    if kind is None:
        return []
    hints = get_type_hints(kind, include_extras=True)
    return [_alias(hints[field.name]) or field.name for field in fields(kind) if field.init]


def _inner_class(hint: object) -> Any:
    """The dataclass in an annotation such as `tuple[Case, ...]`."""
    if is_dataclass(hint):
        return hint
    for inner in get_args(hint):
        if found := _inner_class(inner):
            return found
    return None


def _alias(hint: object) -> str | None:
    found = (extra.alias for extra in get_args(hint) if isinstance(extra, FieldInfo))
    return next(filter(None, found), None)


# The kinds of field -------------------------------------------------------------------------------


def _error(message: str) -> PydanticCustomError:
    # The message as an argument: it may contain braces, which a template would interpret.
    return PydanticCustomError("fault", "{message}", {"message": message})


def checked(check: Callable[[Any], str | None]) -> AfterValidator:
    """Refuses a value of which `check` says what is wrong."""

    def validate(value: T) -> T:
        if problem := check(value):
            raise _error(problem)
        return value

    return AfterValidator(validate)


def converted(convert: Callable[[Any], object]) -> AfterValidator:
    """Puts what `convert` returns in place of the value; its `InvalidInput` is a fault."""

    def validate(value: object) -> object:
        try:
            return convert(value)
        except InvalidInput as error:
            raise _error(error.message) from None

    return AfterValidator(validate)


def _text_fault(text: str) -> str | None:
    if not is_unicode(text):
        return NOT_UNICODE
    return None if fold(text) else "must not be empty"


def _finite(value: object) -> float:
    """The number as it was written: a float cannot tell large whole numbers apart."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _error(f"must be a number, is {type_name(value)}")
    try:
        is_finite = math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        is_finite = False
    if not is_finite:
        raise _error("must be a finite number")
    return value


def _distinct(texts: tuple[str, ...]) -> tuple[str, ...]:
    first: dict[str, int] = {}
    twice = [i for i, text in enumerate(texts) if first.setdefault(text.strip(), i) != i]
    if twice:
        raise _nested([((i,), f"{texts[i]!r} is there twice") for i in twice])
    return texts


def _json(value: object) -> object:
    if found := list(_json_faults(value, ())):
        raise _nested(found)
    return value


def _nested(faults: Sequence[tuple[Path, str]]) -> ValidationError:
    """Several errors inside one value, which pydantic adds to its own."""
    return ValidationError.from_exception_data(
        "value", [InitErrorDetails(type=_error(text), loc=at, input=None) for at, text in faults]
    )


def _json_faults(value: object, at: Path) -> Iterator[tuple[Path, str]]:
    """Each place where JSON cannot hold the value."""
    if len(at) > MAX_JSON_DEPTH:
        # At the value itself: the place inside is a path of hundreds of steps.
        yield (), f"is nested more than {MAX_JSON_DEPTH} deep"
    elif isinstance(value, Mapping):
        for key, inner in cast(Mapping[object, object], value).items():
            if isinstance(key, str) and is_unicode(key):
                yield from _json_faults(inner, (*at, key))
            else:
                yield at, f"JSON has text keys only, not {key!r}"
    elif isinstance(value, list):
        for place, inner in enumerate(cast(list[object], value)):
            yield from _json_faults(inner, (*at, place))
    elif problem := _scalar_fault(value):
        yield at, problem


def _scalar_fault(value: object) -> str | None:
    if isinstance(value, str):
        return None if is_unicode(value) else NOT_UNICODE
    if isinstance(value, float) and not math.isfinite(value):
        return f"JSON has no {value}"
    if value is None or isinstance(value, bool | int | float):
        return None
    return f"JSON has no {type_name(value)}: quote it"


Text = Annotated[str, Strict(), checked(_text_fault)]
"""Text with something in it."""
Number = Annotated[float, PlainValidator(_finite)]
"""A finite number; true is not one."""
Tolerance = Annotated[Number, Field(ge=0)]
Weight = Annotated[Number, Field(ge=0, le=1e6)]
"""The limit keeps the sum of the weights a number."""
PassScore = Annotated[Number, Field(gt=0, le=100)]
IsJson = AfterValidator(_json)
"""A value that JSON can hold, to its depth."""
Json = Annotated[Any, IsJson]
Distinct = AfterValidator(_distinct)
"""A list in which no text occurs twice."""
