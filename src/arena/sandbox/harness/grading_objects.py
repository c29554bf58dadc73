"""What a grader holds of the submitted code: its functions, its classes and their objects."""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

from arena.sandbox.harness.grading_values import encode

ORDER = frozenset({"__lt__", "__le__", "__gt__", "__ge__"})
ARITHMETIC = frozenset(
    {
        *("__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__pow__"),
        *("__or__", "__and__", "__xor__"),
    }
)
OTHERS = (
    *("__len__", "__contains__", "__getitem__", "__setitem__", "__delitem__", "__str__"),
    *("__repr__", "__bool__", "__iter__", "__next__", "__neg__", "__abs__", "__int__"),
    *("__float__", "__invert__", "__enter__", "__exit__"),
)


class Function:
    """A function of the submission: it can be called, and nothing else."""

    def __init__(self, code: Any, of: Any, name: str) -> None:
        self.code = code
        self.of = of
        self.__name__ = self.__qualname__ = name

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Call it in its own process."""
        return self.code.call(self.of, given, named)


class Remote:
    """A class or an object of the submission. What it says is the submission's word."""

    def __init__(self, code: Any, of: Any) -> None:
        # One name that no submission uses: every other is an attribute of the object.
        object.__setattr__(self, "__parts__", (code, of))

    def __getattr__(self, name: str) -> Any:
        code, of = parts_of(self)
        if isinstance(of, int):
            return code.ask("get", of=of, name=name)
        raise AttributeError(f"{of}.{name}: only objects have attributes here")

    def __setattr__(self, name: str, value: Any) -> None:
        code, of = parts_of(self)
        code.ask("set", of=of, name=name, value=encode(value, code.hold))

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Make an object."""
        code, of = parts_of(self)
        return code.call(of, given, named)

    def __eq__(self, other: object) -> bool:
        # Never with a plain value: an object that equals everything would pass every check.
        if not isinstance(other, Remote):
            return False
        code, of = parts_of(self)
        return code.call(of, (other,), kind="special", name="__eq__") is True

    def __hash__(self) -> int:
        return hash(parts_of(self)[1])


def parts_of(remote: Remote) -> tuple[Any, Any]:
    """The process of a class or an object, and its name or number there."""
    return object.__getattribute__(remote, "__parts__")


def _special(name: str) -> Any:
    # An object that is nearly everything would pass every check for tolerance: so it is neither
    # ordered beside a plain value nor subtracted from one, and a sum with one is an object again.
    is_refused = name in ORDER or name == "__sub__"

    def method(self: Remote, *given: Any) -> Any:
        is_mixed = any(not isinstance(one, Remote) for one in given)
        if is_mixed and is_refused:
            raise TypeError(f"{name} of an object of the submission with a plain value")
        code, of = parts_of(self)
        value = code.call(of, given, kind="special", name=name)
        if is_mixed and name in ARITHMETIC and not isinstance(value, Remote):
            raise TypeError(f"{name} of an object with a plain value did not give an object")
        return value

    method.__name__ = name
    return method


for _name in (*ORDER, *ARITHMETIC, *OTHERS):
    setattr(Remote, _name, _special(_name))
