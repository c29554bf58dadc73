"""Templates: the body of a test in which `{{name}}` stands for the value of a variable.

A text that is nothing but `{{name}}` becomes the value itself, whatever its type; in a longer text
the value is inserted as text. `{{name:json}}` reads a text (a cell of a CSV file) as JSON.
`{{user.name}}` looks into a mapping. `{{{{` stands for `{{`.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from arena.documents.problem import KeyPath
from arena.errors import nearest

PLACEHOLDER = re.compile(r"\{\{\{\{|\{\{[ \t]*([^\W\d][^{}\n]*?)[ \t]*\}\}")
"""An escape, or the name of a variable, which begins with a letter or `_`."""
JSON_MARK = ":json"
MAX_DIGITS = 4300
"""Python reads no longer number."""

Variables = Mapping[str, Any]
Render = Callable[[Variables], Any]


class NoValue(Exception):
    """A placeholder has no value, or none that can be used."""

    def __init__(self, message: str, path: KeyPath) -> None:
        super().__init__(message)
        self.message, self.path = message, path


@dataclass(frozen=True, slots=True)
class Use:
    """A place where a variable is used."""

    name: str
    path: KeyPath

    def is_in(self, known: Variables) -> bool:
        """Whether the variable is among these."""
        return self.name in known or self.name.partition(".")[0] in known


class Template:
    """A body with placeholders; keys that are fixed, and those of mappings, have none."""

    def __init__(self, body: Mapping[str, Any], fixed: tuple[str, ...] = ()) -> None:
        self.uses: list[Use] = []
        """Every use of a variable, in the order of the body."""
        self._body = dict(body)
        self._parts: list[tuple[str, Render]] = []
        for key, value in self._body.items():
            render = None if key in fixed else self._compile(value, (key,))
            if render is not None:
                self._parts.append((key, render))

    @property
    def varying(self) -> frozenset[str]:
        """The outermost keys whose values depend on a variable."""
        return frozenset(key for key, _ in self._parts)

    def render(self, variables: Variables) -> dict[str, Any]:
        """The body with these values; what has no placeholder is shared, not copied.

        Raises `NoValue`.
        """
        body = self._body.copy()
        for key, render in self._parts:
            body[key] = render(variables)
        return body

    def _compile(self, value: object, path: KeyPath) -> Render | None:
        """What renders a value; None if it has no placeholder."""
        if isinstance(value, str):
            return self._text(value, path) if "{{" in value else None
        if isinstance(value, dict):
            items = cast(dict[str, object], value).items()
            parts = [(key, self._compile(one, (*path, key))) for key, one in items]
        elif isinstance(value, list):
            parts = [
                (place, self._compile(one, (*path, place)))
                for place, one in enumerate(cast(list[object], value))
            ]
        else:
            return None
        changed = [(key, render) for key, render in parts if render is not None]
        return _container(cast(Any, value), changed) if changed else None

    def _text(self, text: str, path: KeyPath) -> Render | None:
        found = list(PLACEHOLDER.finditer(text))
        if not found:
            return None
        if len(found) == 1 and found[0].group(1) and found[0].span() == (0, len(text)):
            return self._lookup(found[0].group(1), path)
        pieces: list[str | Render] = []
        end = 0
        for match in found:
            pieces.append(text[end : match.start()])
            name, end = match.group(1), match.end()
            pieces.append(self._lookup(name, path) if name else "{{")
        pieces.append(text[end:])
        return _joined([piece for piece in pieces if piece])

    def _lookup(self, written: str, path: KeyPath) -> Render:
        name = written.removesuffix(JSON_MARK).rstrip()
        self.uses.append(Use(name, path))
        found = _finder(name, path)
        return _json_reader(name, found, path) if name != written else found


def _container(value: Any, changed: list[tuple[Any, Render]]) -> Render:
    def render(variables: Variables) -> Any:
        made = value.copy()
        for key, part in changed:
            made[key] = part(variables)
        return made

    return render


def _joined(pieces: list[str | Render]) -> Render:
    def render(variables: Variables) -> str:
        return "".join(
            piece if isinstance(piece, str) else _as_text(piece(variables)) for piece in pieces
        )

    return render


def _finder(name: str, path: KeyPath) -> Render:
    first, _, rest = name.partition(".")
    steps = rest.split(".") if rest else []

    def find(variables: Variables) -> Any:
        if name in variables:  # also a column whose name has a dot in it
            return variables[name]
        value: Any = variables.get(first) if steps else None
        for step in steps:
            if not isinstance(value, dict) or step not in value:
                break
            value = cast(dict[str, Any], value)[step]
        else:
            if steps:
                return value
        raise NoValue(missing(name, variables), path)

    return find


def _json_reader(name: str, find: Render, path: KeyPath) -> Render:
    def read(variables: Variables) -> Any:
        value = find(variables)
        if not isinstance(value, str):
            return value
        try:
            return read_json(value)
        except NotJson as error:
            message = f"{{{{{name}{JSON_MARK}}}}}: its value is not valid JSON: {error}"
            raise NoValue(message, path) from error

    return read


def missing(name: str, known: Variables) -> str:
    """That there is no such variable."""
    return f"there is no variable {name!r}{nearest(name, known)}"


class NotJson(Exception):
    """A text is not JSON, or not of a kind that can be used."""

    def __init__(self, message: str, column: int = 1) -> None:
        super().__init__(message)
        self.column = column


def read_json(text: str) -> Any:
    """The value in a text; raises `NotJson`."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(error.msg, error.colno) from error
    except RecursionError as error:
        raise NotJson("it is nested too deeply") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping, unless a key occurs twice: one of its values would be lost."""
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotJson(f"duplicate key {twice!r}")
    return made


def _refuse_constant(name: str) -> None:
    """Refuse NaN and the infinities, which no database stores."""
    raise NotJson(f"{name} is not a JSON value")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise NotJson(f"{text} is too large")
    return number


def _whole(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise NotJson(f"a number has more than {MAX_DIGITS:,} digits")
    return int(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=_refuse_constant,
    parse_float=_finite,
    parse_int=_whole,
)


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def texts_in(value: object) -> Iterator[str]:
    """Every text in a value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in cast(dict[str, object], value).items():
            yield key
            yield from texts_in(one)
    elif isinstance(value, list):
        for one in cast(list[object], value):
            yield from texts_in(one)
