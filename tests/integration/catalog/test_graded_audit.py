"""The audit of tests with own graders: it finds their holes, and its hints close them."""

from pathlib import Path

import pytest

from arena.catalog.audit import audit_test
from arena.catalog.loader import read_source
from arena.catalog.test import Test
from arena.evaluation.resources import Resources
from arena.sandbox.namespace.provider import NamespaceProvider

EXAMPLE = Path(__file__).parents[3] / "examples/coding-agent/tests/repair.yaml"
NEAR = "def check(f):\n    for x in (1.5, 2.5): assert "
ORDER = "def check(f):\n    items = [3, 1, 2]\n    "
REFUSES = "def check(f):\n    assert f(1) == 1\n    try: f(-1)\n    except "


def graded(script: str, answer: str) -> Test:
    return Test(
        id="f",
        name="F",
        prompt="Write a Python function f.",
        validation="python",
        expected={"script": script, "entry_points": ["f"]},
        solution={"answer": answer, "language": "python"},
    )


@pytest.mark.parametrize(
    ("cheat", "open_script", "closed_script", "answer"),
    [
        (
            "nan",
            f"{NEAR}not abs(f(x) - x * x) > 1e-6",
            f"{NEAR}abs(f(x) - x * x) <= 1e-6",
            "def f(x): return x * x",
        ),
        (
            "empties",
            f"{ORDER}assert f(items) == sorted(items)",
            f"{ORDER}expected = sorted(items)\n    assert f(items) == expected",
            "def f(items): return sorted(items)",
        ),
        (
            "exit",
            "def check(f):\n    try: f(-1)\n    except BaseException: return\n    assert False",
            f"{REFUSES}ValueError: return\n    assert False",
            "def f(x):\n    if x < 0: raise ValueError\n    return x",
        ),
    ],
)
async def test_following_the_hint_closes_the_hole(
    cheat: str, open_script: str, closed_script: str, answer: str
) -> None:
    async with NamespaceProvider() as sandbox:
        found = await audit_test(graded(open_script, answer), Resources(sandbox=sandbox))
        closed = await audit_test(graded(closed_script, answer), Resources(sandbox=sandbox))
    assert found is not None
    assert cheat in [one.agent for one in found.findings]
    assert all(one.hint for one in found.findings)
    assert closed is not None
    assert (closed.findings, closed.is_solved) == ((), True)


async def test_the_example_of_a_coding_agent_has_no_hole() -> None:
    (test,) = read_source(EXAMPLE).tests
    async with NamespaceProvider() as sandbox:
        audited = await audit_test(test, Resources(sandbox=sandbox))
    assert audited is not None
    assert (audited.findings, audited.is_solved) == ((), True)
