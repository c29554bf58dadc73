"""The styles in which public problem sets write their tests: each with right and wrong code."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_standard
from arena.evaluation.resources import GraderError, Resources
from arena.evaluation.verdict import Submission, Verdict
from arena.sandbox.namespace.provider import NamespaceProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """A way of writing tests."""

    name: str
    script: str
    right: str
    wrong: str
    entry_points: tuple[str, ...] = ("candidate",)
    classes: tuple[str, ...] = ()
    language: str = "python"


ONE_MORE = "def candidate(x): return x + 1"
SAME = "def candidate(x): return x"
JS_ONE_MORE = (
    "async function candidate(x) { if (x < 0) throw new RangeError('low'); return x + 1; }"
)
JS_SAME = "async function candidate(x) { return x; }"
STYLES = [
    Style(
        name="asyncio.run",
        script="import asyncio\ndef check(candidate):\n    assert asyncio.run(candidate(3)) == 4",
        right=f"async {ONE_MORE}",
        wrong=f"async {SAME}",
    ),
    Style(
        name="an async check",
        script="async def check(candidate):\n    assert await candidate(3) == 4",
        right=f"async {ONE_MORE}",
        wrong=f"async {SAME}",
    ),
    Style(
        name="a check with all entry points",
        script="def check(*candidates):\n    for one in candidates: assert one(3) == 4",
        right=ONE_MORE,
        wrong=SAME,
    ),
    Style(
        name="a check with helpers that are named like tests",
        script="def test_one(f, x): assert f(x) == x + 1\n"
        "def check(candidate):\n    test_one(candidate, 3)",
        right=ONE_MORE,
        wrong=SAME,
    ),
    Style(
        name="setUpClass, sub-tests, a skipped test and unittest.main",
        script="""
import unittest
class Tests(unittest.TestCase):
    @classmethod
    def setUpClass(cls): cls.cases = [(1, 2), (5, 6)]
    def test_cases(self):
        for given, expected in self.cases:
            with self.subTest(given=given):
                self.assertEqual(candidate(given), expected)
    @unittest.skip("not yet")
    def test_later(self): self.fail()
unittest.main()
""",
        right=ONE_MORE,
        wrong=SAME,
    ),
    Style(
        name="an entry point with the name grade",
        script="assert grade(95) == 'A'\nassert grade(20) == 'F'",
        right="def grade(points): return 'A' if points > 90 else 'F'",
        wrong="def grade(points): return 100",
        entry_points=("grade",),
    ),
    Style(
        name="an exception of the submission, with attributes",
        script="""
import unittest
from solution import Account, TooLittle
class Tests(unittest.TestCase):
    def test_too_little(self):
        with self.assertRaises(TooLittle) as caught:
            Account(5).take(8)
        self.assertEqual(caught.exception.missing, 3)
        self.assertIsInstance(caught.exception, ValueError)
""",
        right="""
class TooLittle(ValueError):
    def __init__(self, missing):
        super().__init__(f"{missing} too little")
        self.missing = missing
class VeryLittle(TooLittle): pass
class Account:
    def __init__(self, amount): self.amount = amount
    def take(self, amount): raise VeryLittle(amount - self.amount)
""",
        wrong="""
class TooLittle(ValueError): pass
class Account:
    def __init__(self, amount): self.amount = amount
    def take(self, amount): raise ValueError("too little")
""",
        entry_points=(),
        classes=("Account", "TooLittle"),
    ),
    Style(
        name="an iterator class, and attributes of every name",
        script="""
def test_iterator():
    items = Items(2)
    assert (next(items), next(items)) == (1, 2)
    try: next(items)
    except StopIteration: pass
    else: assert False
    assert list(Items(3)) == [1, 2, 3]
    assert (items.code, items.of) == ("x", 2)
""",
        right="""
class Items:
    def __init__(self, of): self.of, self.at, self.code = of, 0, "x"
    def __iter__(self): return self
    def __next__(self):
        if self.at == self.of: raise StopIteration
        self.at += 1
        return self.at
""",
        wrong="class Items:\n    def __init__(self, of): self.of, self.code = of, 'x'",
        entry_points=(),
        classes=("Items",),
    ),
    Style(
        name="objects with operators",
        script="""
def test_vectors():
    found = Vector(1, 2) * 3 + Vector(1, 1) - Vector(2, 0)
    assert (found.x, found.y) == (2, 7)
    assert abs(Vector(3, 4)) == 5
    assert Vector(1, 0) < Vector(3, 4)
""",
        right="""
class Vector:
    def __init__(self, x, y): self.x, self.y = x, y
    def __mul__(self, n): return Vector(self.x * n, self.y * n)
    def __add__(self, other): return Vector(self.x + other.x, self.y + other.y)
    def __sub__(self, other): return Vector(self.x - other.x, self.y - other.y)
    def __abs__(self): return (self.x ** 2 + self.y ** 2) ** 0.5
    def __lt__(self, other): return abs(self) < abs(other)
""",
        wrong="class Vector:\n    def __init__(self, x, y): self.x, self.y = x, y",
        entry_points=(),
        classes=("Vector",),
    ),
    Style(
        name="promises, in JavaScript",
        script="""
test("value", () => candidate(3).then((found) => assert.equal(found, 4)));
test("error", async () => { await assert.rejects(candidate(-1), RangeError); });
test("callback", (done) => { setTimeout(() => candidate(1).then((n) => done(n - 2)), 5); });
""",
        right=JS_ONE_MORE,
        wrong=JS_SAME,
        language="javascript",
    ),
    Style(
        name="an async function that is called at once, in JavaScript",
        script="(async () => { await null; assert.equal(await candidate(3), 4); })();",
        right=JS_ONE_MORE,
        wrong=JS_SAME,
        language="javascript",
    ),
    Style(
        name="a solution that is required, in JavaScript",
        script="const { grade } = require('./solution');\nassert.equal(grade(95), 'A');",
        right="function grade(points) { return points > 90 ? 'A' : 'F'; }",
        wrong="function grade(points) { return 100; }",
        entry_points=("grade",),
        language="javascript",
    ),
]


@pytest.fixture
async def resources() -> AsyncIterator[Resources]:
    async with NamespaceProvider() as sandbox:
        yield Resources(sandbox=sandbox)


async def judged(style: Style, code: str, resources: Resources) -> Verdict:
    body = {"script": style.script, "entry_points": style.entry_points, "classes": style.classes}
    submission = Submission(output=code, language=style.language)
    return await evaluate(read_standard(style.language, body), submission, resources)


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
async def test_right_code_passes_and_wrong_code_does_not(
    style: Style, resources: Resources
) -> None:
    right = await judged(style, style.right, resources)
    assert right.score == 100, right.reasoning
    wrong = await judged(style, style.wrong, resources)
    assert wrong.score == 0, wrong.reasoning


@pytest.mark.parametrize(
    ("language", "script"),
    [
        # A misspelt `check`, which nobody calls.
        ("python", "def verify(candidate):\n    assert candidate(3) == 4"),
        ("python", "def run():\n    assert candidate(3) == 4\nif __name__ == '__main__': run()"),
        ("python", "def check(candidate):\n    assert candidate(3) == 4\n    yield"),
        ("javascript", "function verify(candidate) { assert.equal(candidate(3), 4); }"),
        # Only the submission could have put this module there.
        ("javascript", "assert.equal(candidate(3), require('./planted').answer);"),
    ],
)
async def test_a_script_that_checks_nothing_is_an_error(
    language: str, script: str, resources: Resources
) -> None:
    code = {
        "python": SAME,
        "javascript": "require('fs').writeFileSync('planted.js', 'exports.answer = 3');"
        "function candidate(x) { return x; }",
    }[language]
    style = Style(name="", script=script, right="", wrong="", language=language)
    with pytest.raises(GraderError):
        await judged(style, code, resources)


async def test_a_script_without_code_has_to_execute_its_assertions(resources: Resources) -> None:
    misspelt = "def grad(submission):\n    assert 'x' in submission.output"
    style = Style(name="", script=misspelt, right="", wrong="", entry_points=())
    with pytest.raises(GraderError, match="checks nothing"):
        await judged(style, "y", resources)
    called = Style(
        name="", script=f"{misspelt}\ngrad(submission)", right="", wrong="", entry_points=()
    )
    assert (await judged(called, "x", resources)).score == 100


@pytest.mark.parametrize(
    ("language", "script", "code"),
    [
        (
            "python",
            "def made(n):\n    def test(): assert candidate(n) == n, 'x' * 3000\n    return test\n"
            "for n in range(1000): globals()[f'test_{n}'] = made(n)",
            "def candidate(x): return x if x < 500 else 0",
        ),
        (
            "javascript",
            "for (let n = 0; n < 1000; n++)\n"
            "  test(`t${n}`, () => assert.equal(candidate(n), n, 'x'.repeat(3000)));",
            "function candidate(x) { return x < 500 ? x : 0; }",
        ),
    ],
)
async def test_a_thousand_long_findings_are_cut(
    language: str, script: str, code: str, resources: Resources
) -> None:
    style = Style(name="", script=script, right="", wrong="", language=language)
    verdict = await judged(style, code, resources)
    assert (verdict.score, len(verdict.findings)) == (50, 1000)


async def test_a_value_that_takes_all_time_is_a_failed_check(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.sandbox.grading.GRADER_SECONDS", 0.5)
    script = "def check(candidate):\n    assert sum(x % 7 for x in candidate()) == 3"
    style = Style(name="", script=script, right="", wrong="")
    verdict = await judged(style, "def candidate(): return range(10**12)", resources)
    assert verdict.score == 0
    assert "with what the submitted code returned" in verdict.reasoning
