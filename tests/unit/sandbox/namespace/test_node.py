import pytest

from arena.sandbox.namespace.node import is_conclusive, suits_quickjs
from arena.sandbox.ports import CaseOutcome, FunctionOutcome


@pytest.mark.parametrize(
    "source",
    [
        "function f(a) { return a.map((x) => x + 1); }",
        "const f = ({ a, ...rest }) => [a, rest, `${a}`];",
        "async function f(a) { return await a; }",
        "function f(a) { return [...new Set(a)].sort(); }",
    ],
)
def test_plain_language_may_try_quickjs(source) -> None:
    assert suits_quickjs(source)


@pytest.mark.parametrize(
    "source",
    [
        "const fs = require('fs')",
        "import x from 'node:fs'",
        "export function f() {}",
        "function f(a) { return new Intl.NumberFormat().format(a); }",
        "function f(a) { return a.toLocaleString(); }",
        "function f() { return new Date(); }",
        "function f(a) { setTimeout(() => {}, 1); }",
        "function f(a) { return Math.sin(a); }",
        "function f(a) { return a ** 0.5; }",
        "function f(a) { return structuredClone(a); }",
        "function f() { return new Error('x').stack; }",
    ],
)
def test_what_differs_between_engines_goes_to_node(source) -> None:
    assert not suits_quickjs(source)


def test_only_values_are_conclusive() -> None:
    good = CaseOutcome(value=1)
    bad = CaseOutcome(error="TypeError: not a function")
    assert is_conclusive(FunctionOutcome(engine="quickjs", cases=[good, good]))
    assert not is_conclusive(FunctionOutcome(engine="quickjs", cases=[good, bad]))
