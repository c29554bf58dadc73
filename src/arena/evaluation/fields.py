"""Reads the body of a standard: the types of its fields, and every fault with its path.

A standard is a dataclass whose annotations say what each field may hold; pydantic checks it. `read`
turns pydantic's errors into faults that say where (so that the catalog can point to the line in a
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
from pydantic_core import InitErrorDetails, PydanticCustomError

from arena.documents.problem import KeyPath
from arena.documents.validation import Fault, dotted, faults_of, type_name
from arena.errors import InvalidInput
from arena.evaluation.text import fold
from arena.fields import alias_of
from arena.text import NOT_UNICODE, is_unicode

MAX_JSON_DEPTH = 200
"""How deep a value in a standard may nest: the same limit as for a function's return value."""

MAX_SHOWN_FAULTS = 50
"""Of thousands of faults, the first ones are enough to see what is wrong."""

T = TypeVar("T")
B = TypeVar("B", bound="Body")


class InvalidStandard(InvalidInput):
    """A standard cannot be used."""

    code = "invalid_standard"

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        shown = [
            f"{dotted(fault.path) or 'the standard'}: {fault.message}"
            for fault in self.faults[:MAX_SHOWN_FAULTS]
        ]
        if len(self.faults) > MAX_SHOWN_FAULTS:
            shown.append(f"and {len(self.faults) - MAX_SHOWN_FAULTS:,} more")
        super().__init__("; ".join(shown))

    def __reduce__(self) -> tuple[type["InvalidStandard"], tuple[Sequence[Fault]]]:
        # A worker process may raise it: an exception is pickled by its arguments.
        return InvalidStandard, (self.faults,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A mapping in a standard. An unknown key in it is a fault."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    def faults(self) -> Iterator[Fault]:
        """Faults between fields that are each valid on their own."""
        return iter(())


def read(kind: type[B], body: object, faults: list[Fault], at: KeyPath = ()) -> B | None:
    """The body as a value of the dataclass `kind`; None, with every fault added to `faults`."""
    before = len(faults)
    try:
        value: B = _adapter(kind).validate_python(body)
    except ValidationError as error:
        found = faults_of(error, lambda path: _keys(kind, path))
        faults += [replace(fault, path=(*at, *fault.path)) for fault in found]
        return None
    faults += [replace(fault, path=(*at, *fault.path)) for fault in value.faults()]
    return value if len(faults) == before else None


@functools.cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    # Built on first use: it takes a millisecond, and most commands read few kinds or none.
    return TypeAdapter(kind)


def _keys(kind: Any, path: KeyPath) -> list[str]:
    """The keys of the mapping at `path` in a body of the given kind."""
    for step in path:
        if isinstance(step, str):
            kind = _inner_class(get_type_hints(kind).get(step))
    if kind is None:
        return []
    hints = get_type_hints(kind, include_extras=True)
    return [alias_of(hints[field.name]) or field.name for field in fields(kind) if field.init]


def _inner_class(hint: object) -> Any:
    """The dataclass in an annotation such as `tuple[Case, ...]`."""
    if is_dataclass(hint):
        return hint
    for inner in get_args(hint):
        if found := _inner_class(inner):
            return found
    return None


# The kinds of field -------------------------------------------------------------------------------


def _error(message: str) -> PydanticCustomError:
    # The message as an argument: it may contain braces, which a template would interpret.
    return PydanticCustomError("fault", "{message}", {"message": message})


def checked(check: Callable[[Any], str | None]) -> AfterValidator:
    """Refuses a value that `check` returns a message for."""

    def validate(value: T) -> T:
        if problem := check(value):
            raise _error(problem)
        return value

    return AfterValidator(validate)


def converted(convert: Callable[[Any], object]) -> AfterValidator:
    """Replaces the value by what `convert` returns; an `InvalidInput` from it is a fault."""

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
    """The number unconverted: a float would merge neighbouring large integers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _error(f"must be a number, is {type_name(value)}")
    try:
        is_finite = math.isfinite(value)
    except OverflowError:  # an int too large for a float
        is_finite = False
    if not is_finite:
        raise _error("must be a finite number")
    return value


def _distinct(texts: tuple[str, ...]) -> tuple[str, ...]:
    first: dict[str, int] = {}
    twice = [i for i, text in enumerate(texts) if first.setdefault(text.strip(), i) != i]
    if twice:
        raise nested([((i,), f"duplicate {texts[i]!r}") for i in twice])
    return texts


def _json(value: object) -> object:
    if found := list(_json_faults(value, ())):
        raise nested(found)
    return value


def nested(faults: Sequence[tuple[KeyPath, str]]) -> ValidationError:
    """Several errors inside one value; pydantic merges them into its own list."""
    return ValidationError.from_exception_data(
        "value", [InitErrorDetails(type=_error(text), loc=at, input=None) for at, text in faults]
    )


def _json_faults(value: object, at: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Each place where JSON cannot hold the value."""
    if len(at) > MAX_JSON_DEPTH:
        # Reported at the root: the path to the place itself has hundreds of steps.
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
"""Text that is not blank."""
Number = Annotated[float, PlainValidator(_finite)]
"""A finite number; `true` is not a number."""
Tolerance = Annotated[Number, Field(ge=0)]
Weight = Annotated[Number, Field(ge=0, le=1e6)]
"""The limit keeps the sum of the weights finite."""
PassScore = Annotated[Number, Field(gt=0, le=100)]
IsJson = AfterValidator(_json)
"""A value that JSON can represent, checked recursively."""
Json = Annotated[Any, IsJson]
Distinct = AfterValidator(_distinct)
"""A list in which no text occurs twice."""
