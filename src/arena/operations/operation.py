"""Operations: their parameters, results, and how they go over HTTP."""

import inspect
import typing
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo

from arena.errors import InvalidInput
from arena.operations.request import Request, misfits
from arena.team import DEFAULT_TEAM

if TYPE_CHECKING:
    from arena.assembly import Arena

P = ParamSpec("P")
T = TypeVar("T")

Place = Literal["path", "query", "header", "body", "field", "bytes"]
"""Where a parameter is sent; a `field` is part of the JSON body, a `body` is all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of an operation."""

    name: str
    place: Place
    annotation: Any
    default: Any
    """`inspect.Parameter.empty` if it is required."""

    @property
    def alias(self) -> str:
        """Its name on the wire."""
        notes = getattr(self.annotation, "__metadata__", ())
        aliases = [note.alias for note in notes if isinstance(note, FieldInfo) and note.alias]
        return aliases[-1] if aliases else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event of a stream."""

    name: str
    data: Any
    id: int | None = None
    """Where a reader that lost its connection can resume."""


Events = AsyncGenerator[Event]
"""The result of an operation that streams: it checks first, then yields events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """How an operation goes over HTTP, beyond what its signature says."""

    method: Literal["GET", "POST"]
    path: str
    id: str | None = None
    """The operationId; by default the name of the method."""
    tag: str = ""
    errors: tuple[int, ...] = ()
    """Error statuses, in addition to those of every operation."""
    team: bool = True
    """Whether it works for a team, which the request may name."""
    public: bool = False
    """Whether it needs no token."""
    query: tuple[str, ...] = ()
    """Parameters of a POST that go into the query."""
    headers: tuple[str, ...] = ()
    """Parameters that go into a header."""
    body: str | None = None
    """The name of the body's schema, if its fields are parameters."""
    accepted_unless: str | None = None
    """The parameter that decides between 200 and 202 Accepted."""
    unavailable_unless: str | None = None
    """The field of the result that decides between 200 and 503."""
    events: Mapping[str, type] | None = None
    """For an operation that returns `Events`: each event's name with the type of its data."""
    description: str | None = None
    """The description of a successful response that is not JSON."""
    media_type: str | None = None
    """Of a result that is bytes."""
    response_headers: Mapping[str, str] | None = None


class Operation:
    """A method of an `OperationGroup` that can go over HTTP."""

    def __init__(self, function: Callable[..., Any], wire: Wire) -> None:
        self.function = function
        self.wire = wire
        self.name = function.__name__
        self.id = wire.id or self.name

    # Types are resolved on first use: resolving those of every operation would take longer than
    # most commands.

    @cached_property
    def signature(self) -> inspect.Signature:
        """The method's signature."""
        return inspect.signature(self.function)

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return typing.get_type_hints(self.function, include_extras=True)

    @cached_property
    def result(self) -> Any:
        """The type of its result."""
        return self._hints["return"]

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """Reads and writes its result."""
        return TypeAdapter(self.result)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters, without `self`."""
        return tuple(
            Parameter(
                name=one.name,
                place=self._place(one.name),
                annotation=self._hints[one.name],
                default=one.default,
            )
            for one in list(self.signature.parameters.values())[1:]
        )

    def _place(self, name: str) -> Place:
        annotation = self._hints[name]
        if f"{{{name}}}" in self.wire.path:
            return "path"
        if name in self.wire.headers:
            return "header"
        if annotation is bytes:
            return "bytes"
        # If the body has a name, its fields are the parameters, which may be models themselves.
        if _is_model(annotation) and self.wire.method == "POST" and self.wire.body is None:
            return "body"
        return "query" if self.wire.method == "GET" or name in self.wire.query else "field"

    @cached_property
    def body(self) -> type | None:
        """The type of its JSON body."""
        fields = [one for one in self.parameters if one.place == "field"]
        if fields:
            name = self.wire.body or self.id
            # Operations with the same body name share one schema.
            return _bodies.setdefault(name, _model(name, fields))
        return next((one.annotation for one in self.parameters if one.place == "body"), None)

    @cached_property
    def _arguments(self) -> type[BaseModel]:
        """A model of all its parameters, for callers in this process."""
        return _model(f"{self.id}_arguments", self.parameters)

    def bind(self, group: object, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call, by name."""
        bound = self.signature.bind(group, *args, **named).arguments
        bound.pop("self")
        return bound

    def checked(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The validated arguments; an error that says which are invalid."""
        try:
            model = self._arguments.model_validate(arguments)
        except ValidationError as error:
            faults = [{**fault, "loc": self._loc(fault["loc"])} for fault in error.errors()]
            raise _invalid(faults) from None
        return {name: getattr(model, name) for name in self._arguments.model_fields}

    def body_document(self, value: object) -> object:
        """The JSON document of a body; an error that says what is invalid."""
        adapter: TypeAdapter[Any] = TypeAdapter(cast(Any, self.body))
        try:
            # A dataclass does not validate its arguments, so it is validated here.
            checked = value if isinstance(value, BaseModel) else adapter.validate_python(value)
        except ValidationError as error:
            faults = [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors()]
            raise _invalid(faults) from None
        return adapter.dump_python(checked, mode="json", exclude_none=True, by_alias=True)

    def _loc(self, loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
        """A location in the arguments, named as the server would."""
        found = next((one for one in self.parameters if loc[0] in (one.name, one.alias)), None)
        if found is None:
            return ("body", *loc)
        if found.place == "body":
            return ("body", *loc[1:])
        place = "body" if found.place == "field" else found.place
        return (place, found.alias, *loc[1:])


_bodies: dict[str, type[Request]] = {}


def _is_model(annotation: object) -> bool:
    """Whether a parameter of this type is a whole body."""
    return inspect.isclass(annotation) and (
        issubclass(annotation, Request) or is_dataclass(annotation)
    )


def _invalid(faults: Sequence[Any]) -> InvalidInput:
    return InvalidInput("; ".join(f"{one.at}: {one.message}" for one in misfits(faults)))


def _model(name: str, parameters: Sequence[Parameter]) -> type[Request]:
    """A model whose fields are these parameters."""
    fields: dict[str, Any] = {
        one.name: (one.annotation, ... if one.default is inspect.Parameter.empty else one.default)
        for one in parameters
    }
    return create_model(name, __base__=Request, **fields)


class Target(Protocol):
    """Where operations are executed. Their result is awaited, even if it is a stream."""

    def call(self, operation: Operation, group: Any, arguments: dict[str, Any]) -> Awaitable[Any]:
        """Execute an operation; returns its result."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class InProcess:
    """The rooms of this process, on behalf of a caller."""

    arena: "Arena"
    team_id: str | None = None
    """The team in the request; None if there is none."""
    token_team: str | None = None
    """The team of the caller's token; None if no token is needed."""
    shown: Callable[[str], str] = str
    """Replaces the paths of this machine in a text, for a caller on another one."""

    async def call(self, operation: Operation, group: Any, arguments: dict[str, Any]) -> Any:
        """Validate the arguments as a server would, then call the method."""
        return await operation.function(group, **operation.checked(arguments))


class OperationGroup:
    """Operations on one noun."""

    def __init__(self, target: Target) -> None:
        self._target = target

    @property
    def _here(self) -> InProcess:
        assert isinstance(self._target, InProcess), "only the body of an operation uses rooms"
        return self._target

    @property
    def arena(self) -> "Arena":
        """The rooms."""
        return self._here.arena

    @property
    def team(self) -> str:
        """The team to work for."""
        return self._here.team_id or DEFAULT_TEAM

    @property
    def named_team(self) -> str | None:
        """For reading by a unique id: without a team in the request, the id alone decides."""
        return self._here.team_id

    @property
    def token_team(self) -> str | None:
        """The team of the caller's token; None if no token is needed."""
        return self._here.token_team

    def _shown(self, text: str) -> str:
        """A text that may contain paths, as the caller may see it."""
        return self._here.shown(text)


def operations_of(group: type) -> list[Operation]:
    """The operations of a group, in order of definition, base classes first."""
    found: dict[str, Operation] = {}
    for kind in reversed(group.__mro__):
        for member in vars(kind).values():
            operation = getattr(member, "operation", None)
            if isinstance(operation, Operation):
                found[operation.name] = operation
    return list(found.values())


def get(path: str, **wire: Any) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a method an operation with GET."""
    return _operation(Wire(method="GET", path=path, **wire))


def post(path: str, **wire: Any) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a method an operation with POST."""
    return _operation(Wire(method="POST", path=path, **wire))


def _operation(wire: Wire) -> Callable[[Callable[P, T]], Callable[P, T]]:
    def declare(function: Callable[P, T]) -> Callable[P, T]:
        operation = Operation(function, wire)

        @wraps(function)
        async def call(self: OperationGroup, *args: Any, **named: Any) -> Any:
            arguments = operation.bind(self, args, named)
            return await self._target.call(operation, self, arguments)  # pyright: ignore[reportPrivateUsage]

        public: Any = call
        public.operation = operation
        return public

    return declare
