"""Functions and their cases: the seed's own example, both languages."""

# ruff: noqa: E501 - the lines of a submission stay whole

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from arena.errors import InvalidInput
from arena.sandbox.cases import CaseOptions, calc_score, run_tests
from arena.sandbox.limits import Limit, Limits
from arena.sandbox.namespace.launch import find_node
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.sandbox.ports import TestCase
from arena.sandbox.values import UNDEFINED, MapValue, SetValue
from integration.sandbox.machine import need, need_isolation

pytestmark = pytest.mark.asyncio(loop_scope="module")
LIMITS = Limits(wall_seconds=15.0)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncIterator[NamespaceProvider]:
    need_isolation()
    need(find_node() is not None, "Node is not installed")
    async with NamespaceProvider(LIMITS) as provider:
        yield provider


# The standard and the wrong implementation of the seed: arrays are joined instead of replaced.
SEED = [
    {
        "input": [{"a": 1}, {"b": 2}],
        "expected": {"a": 1, "b": 2},
        "desc": "merge two flat objects",
    },
    {
        "input": [{"a": {"x": 1}}, {"a": {"y": 2}}],
        "expected": {"a": {"x": 1, "y": 2}},
        "desc": "deep merge nested objects",
    },
    {
        "input": [{"a": [1, 2]}, {"a": [3]}],
        "expected": {"a": [3]},
        "desc": "arrays overwrite (not merge)",
    },
]
RIGHT = """
const isObject = (x) => x !== null && typeof x === 'object' && !Array.isArray(x);
function deepMerge(a, b) {
  const out = { ...a };
  for (const key of Object.keys(b)) {
    out[key] = isObject(out[key]) && isObject(b[key]) ? deepMerge(out[key], b[key]) : b[key];
  }
  return out;
}
"""
WRONG = RIGHT.replace(": b[key];", ": Array.isArray(out[key]) ? out[key].concat(b[key]) : b[key];")


def seed_cases() -> list[TestCase]:
    return [TestCase(**document) for document in SEED]


async def test_the_seeds_example_passes(provider) -> None:
    results = await run_tests(provider, RIGHT, "deepMerge", seed_cases())
    assert [(r.desc, r.passed, r.got, r.expected) for r in results] == [
        (c["desc"], True, c["expected"], c["expected"]) for c in SEED
    ]
    assert calc_score(results, 100) == 100


async def test_the_seeds_wrong_implementation_gets_66(provider) -> None:
    results = await run_tests(provider, WRONG, "deepMerge", seed_cases())
    assert [result.passed for result in results] == [True, True, False]
    assert results[2].got == {"a": [1, 2, 3]}
    assert results[2].error is None
    assert calc_score(results, 100) == 66


async def test_cases_may_be_the_mappings_of_the_document(provider) -> None:
    results = await run_tests(provider, WRONG, "deepMerge", SEED)
    assert [(r.desc, r.passed) for r in results] == [
        ("merge two flat objects", True),
        ("deep merge nested objects", True),
        ("arrays overwrite (not merge)", False),
    ]
    assert calc_score(results, 100) == 66
    [result] = await run_tests(provider, RIGHT, "deepMerge", [{"input": [{}, {}], "expected": {}}])
    assert (result.passed, result.desc) == (True, "")


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ({"input": [1]}, "expected is missing"),
        ({"expected": 1}, "input is missing"),
        ({"input": 1, "expected": 1}, "must be a list of arguments"),
        ({"input": [1], "expectd": 1}, "unknown field 'expectd'; did you mean 'expected'"),
    ],
)
async def test_a_mapping_that_is_no_case_is_refused(provider, case, message) -> None:
    with pytest.raises(InvalidInput, match=message):
        await run_tests(provider, RIGHT, "deepMerge", [SEED[0], case])


async def check(provider, source, inputs, expected, **more) -> list:
    case = TestCase(input=inputs, expected=expected)
    results = await run_tests(provider, source, "f", [case], **more)
    assert results[0].passed, results[0]
    return results


PYTHON = {
    "plain": ("def f(a, b): return a + b", [1, 2], 3),
    "helpers above and below": (
        "def g(x): return h(x) + 1\ndef f(x): return g(x)\ndef h(x): return x * 2",
        [5],
        11,
    ),
    "awaited": (
        "import asyncio\nasync def f(x):\n    await asyncio.sleep(0)\n    return x",
        [1],
        1,
    ),
    "fenced": ("Sure:\n```python\ndef f(x):\n    return x\n```\n", ["é"], "é"),
    "standard library": (
        "import collections, re, datetime, decimal\n"
        "def f(s): return dict(collections.Counter(re.findall(r'\\w', s)))",
        ["aab"],
        {"a": 2, "b": 1},
    ),
    "default dictionary": (
        "from collections import defaultdict\n"
        "def f(xs):\n    d = defaultdict(list)\n    for x in xs: d[x % 2].append(x)\n    return d",
        [[1, 2, 3]],
        {"1": [1, 3], "0": [2]},
    ),
    "dataclass as a helper": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n"
        "def f(x): return P(x).x",
        [4],
        4,
    ),
    "tuples are lists": ("def f(): return (1, (2,))", [], [1, [2]]),
    "set": ("def f(): return {1, 2}", [], {2, 1}),
    "not a number": ("def f(x): return x", [float("nan")], float("nan")),
    "infinity": ("def f(x): return -x", [float("inf")], float("-inf")),
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def f(n):\n    with ThreadPoolExecutor(4) as p: return list(p.map(abs, range(-n, 0)))",
        [3],
        [3, 2, 1],
    ),
    "files of its own": (
        "import tempfile, sqlite3, pathlib\ndef f():\n    with tempfile.NamedTemporaryFile('w+') as t:\n"
        "        t.write('x'); t.seek(0)\n        pathlib.Path('y').write_text(t.read())\n"
        "    return sqlite3.connect(':memory:').execute('select 2').fetchone()[0]",
        [],
        2,
    ),
    "callable of a class": ("class C:\n    def m(self, x): return x\nf = C().m", [3], 3),
    "repeatable chance": ("import random\ndef f(): return random.random()", [], 0.8444218515250481),
}


@pytest.mark.parametrize(("source", "inputs", "expected"), PYTHON.values(), ids=PYTHON.keys())
async def test_python_functions(provider, source, inputs, expected) -> None:
    results = await check(provider, source, inputs, expected)
    assert results[0].engine.startswith("python 3.")


JAVASCRIPT = {
    # What QuickJS, which ran some submissions in 0.1, answered differently.
    "a fraction in base 2": ("function f() { return (0.5).toString(2); }", [], "0.1"),
    "a large number as text": ("function f(x) { return '' + 2 ** x; }", [60], "1152921504606847000"),
    "deep recursion": ("const g = (n) => n ? 1 + g(n - 1) : 0; function f(n) { try { return g(n); } catch (e) { return -1; } }",
                       [9000], 9000),
    "the text of an error": ("function f(x) { try { x.y.z; } catch (e) { return '' + e; } }", [{}],
                             "TypeError: Cannot read properties of undefined (reading 'z')"),
    # What the harness adds.
    "a large number": ("function f() { return [2 ** 60, -(2 ** 53), 2 ** 53 + 2, 1e21]; }", [],
                       [2**60, -(2**53), 2**53 + 2, 10**21]),
    "a large number as JavaScript writes it": ("function f() { return 2 ** 60; }", [], 1152921504606847000),
    "import in a comment": ("/*\nimport { x } from 'y'\n*/\nfunction f() { return this === globalThis; }", [], True),
    "module without export": ("import { sep } from 'node:path';\nconst f = () => sep;", [], "/"),
    "await at the top": ("const x = await Promise.resolve(3);\nfunction f() { return x; }", [], 3),
    "the order of queues": ("function f() { return new Promise((r) => { const t = []; Promise.resolve().then(() => t.push('promise'));"
                            " process.nextTick(() => t.push('tick')); setTimeout(r, 1, t); }); }", [], ["tick", "promise"]),
    "its own handler": ("process.on('uncaughtException', () => {});\nfunction f() { setTimeout(() => { throw 1; }, 0);"
                        " return new Promise((r) => setTimeout(r, 20, 'alive')); }", [], "alive"),
    "changed promises": ("Promise.prototype.then = () => 'lie'; RegExp.prototype.exec = () => null;\n"
                         "async function f() { return 'é'; }", [], "é"),
    "half of the memory": ("function f() { const a = []; while (a.length < 12e6) a.push(a.length + 0.5); return a.length; }", [], 12_000_000),
    "plain": ("function f(a, b) { return a + b; }", [1, 2], 3),
    "arrow": ("const f = (a) => a.map((x) => x * 2);", [[1, 2]], [2, 4]),
    "helpers above and below": (
        "const g = (x) => h(x) + 1; function f(x) { return g(x); } function h(x) { return x * 2; }",
        [5],
        11,
    ),
    "awaited": ("async function f(x) { const y = await Promise.resolve(x); return y + 1; }", [1], 2),
    "map and set": (
        "function f(xs) { return new Map([...new Set(xs)].map((x) => [x, new Set([x])])); }",
        [["a", "a"]],
        MapValue([("a", SetValue(["a"]))]),
    ),
    "big integers": ("function f() { return 2n ** 70n; }", [], 2**70),
    "undefined": ("function f() {}", [], UNDEFINED),
    "not a number": ("function f(x) { return [x, -x, 0 / 0]; }", [float("inf")],
                     [float("inf"), float("-inf"), float("nan")]),
    "holes and undefined": ("function f() { return [, { a: undefined }]; }", [],
                            [UNDEFINED, {"a": UNDEFINED}]),
    "classes": ("class P { #x; constructor(x) { this.#x = x; } get x() { return this.#x; } }\n"
                "function f(x) { return new P(x).x; }", [4], 4),
    "instances are objects": ("class P { constructor(x) { this.x = x; } }\n"
                              "function f(x) { return new P(x); }", [4], {"x": 4}),
    "text of any script": ("function f(s) { return s + '\\u{1F600}é'; }", ["ß"], "ß😀é"),
    "date": ("function f() { return new Date(0); }", [], "1970-01-01T00:00:00.000Z"),
    "strict": ("'use strict'; function f() { return this === undefined; }", [], True),
    "nullish and optional": ("function f(a) { return a?.b?.c ?? 'none'; }", [{"b": {}}], "none"),
    "generators inside": ("function* g(n) { for (let i = 0; i < n; i++) yield i; }\n"
                          "function f(n) { return [...g(n)]; }", [3], [0, 1, 2]),
    "sorting is stable": ("function f(xs) { return xs.sort((a, b) => a[0] - b[0]); }",
                          [[[1, "a"], [0, "b"], [1, "c"]]], [[0, "b"], [1, "a"], [1, "c"]]),
    "regular expressions": ("function f(s) { return s.replace(/(?<y>\\d+)-(?<m>\\d+)/, '$<m>/$<y>'); }",
                            ["2024-05"], "05/2024"),
    "Intl": ("function f(n) { return new Intl.NumberFormat('de-DE').format(n); }", [1234.5], "1.234,5"),
    "modules": ("import { createHash } from 'node:crypto';\nconst helper = (x) => x;\n"
                "export function f(s) { return helper(createHash('md5').update(s).digest('hex')); }",
                ["a"], "0cc175b9c0f1b6a831c399e269772661"),
    "default export": ("export default function f(x) { return x; }", [1], 1),
    "commonjs": ("const { sep } = require('path');\nmodule.exports = { f: () => sep };", [], "/"),
    "exported function": ("module.exports = (x) => x + 1;", [1], 2),
    "timers": ("const f = (x) => new Promise((r) => setTimeout(() => r(x), 5));", [7], 7),
    "new library": ("function f(xs) { return [xs.at(-1), Object.hasOwn({ a: 1 }, 'a'), "
                    "xs.toSorted()]; }", [[2, 1]], [1, True, [1, 2]]),
    "structured clone": ("function f(x) { return structuredClone(x); }", [{"a": [1]}], {"a": [1]}),
    "class fields": ("class A { static { A.x = 3; } }\nfunction f() { return A.x; }", [], 3),
}  # fmt: skip


@pytest.mark.parametrize(
    ("source", "inputs", "expected"), JAVASCRIPT.values(), ids=JAVASCRIPT.keys()
)
async def test_javascript_functions(provider, source, inputs, expected) -> None:
    results = await check(provider, source, inputs, expected, language="javascript")
    assert results[0].engine.startswith("node v")


async def test_output_belongs_to_its_case(provider) -> None:
    cases = [TestCase(input=[n], expected=n) for n in range(3)]
    for source in (
        "def f(n):\n    print('case', n)\n    return n",
        "function f(n) { console.log('case', n); return n; }",
    ):
        results = await run_tests(provider, source, "f", cases)
        assert [result.stdout for result in results] == ["case 0\n", "case 1\n", "case 2\n"]


async def test_one_failing_case_leaves_the_others(provider) -> None:
    cases = [TestCase(input=[n], expected=1 / n if n else None) for n in (1, 0, 2)]
    results = await run_tests(provider, "def f(n): return 1 / n", "f", cases)
    assert [result.passed for result in results] == [True, False, True]
    assert results[1].error == "ZeroDivisionError: division by zero (line 1)"


async def test_a_limit_in_the_middle_keeps_what_came_before(provider) -> None:
    async with NamespaceProvider(Limits(wall_seconds=1.5, cpu_seconds=5)) as strict:
        cases = [TestCase(input=[n], expected=n) for n in range(3)]
        source = "import time\ndef f(n):\n    if n == 1: time.sleep(60)\n    return n"
        results = await run_tests(strict, source, "f", cases)
    assert [result.passed for result in results] == [True, False, False]
    assert [result.limit for result in results] == [None, Limit.WALL_TIME, Limit.WALL_TIME]
    assert "wall_time" in str(results[1].error)


async def test_a_fresh_process_per_case_forgets(provider) -> None:
    source = "seen = []\ndef f(n):\n    seen.append(n)\n    return len(seen)"
    cases = [TestCase(input=[n], expected=1) for n in range(3)]
    together = await run_tests(provider, source, "f", cases)
    assert [result.got for result in together] == [1, 2, 3]
    apart = await run_tests(provider, source, "f", cases, options=CaseOptions(fresh=True))
    assert [result.got for result in apart] == [1, 1, 1]


async def test_a_tolerance_is_applied(provider) -> None:
    await check(provider, "def f(): return 0.1 + 0.2", [], 0.3, options=CaseOptions(tolerance=1e-9))


async def test_inputs_are_the_functions_own(provider) -> None:
    shared = [1]
    cases = [TestCase(input=[shared], expected=2), TestCase(input=[shared], expected=2)]
    results = await run_tests(provider, "def f(x):\n    x.append(1)\n    return len(x)", "f", cases)
    assert [result.passed for result in results] == [True, True]
    assert shared == [1]


async def test_no_cases_are_no_results(provider) -> None:
    assert await run_tests(provider, "nonsense(", "f", []) == []


async def test_a_function_in_a_compiled_language_is_refused(provider) -> None:
    with pytest.raises(InvalidInput, match="program"):
        await run_tests(provider, "fn f() {}", "f", seed_cases(), language="rust")


async def test_an_invalid_function_name_is_refused(provider) -> None:
    with pytest.raises(InvalidInput, match="not a name"):
        await run_tests(provider, RIGHT, "x) || process.exit(", seed_cases())


ADD = "def add(a, b):\n    return a + b"
MARKDOWN = {
    "a longer example": f"```python\n{ADD}\n```\n```python\nx = add(int(input()), 2)\nassert x == 5, 'or not'\n```\n",
    "commands": f"```python\n{ADD}\n```\n```bash\npip install everything-that-is-needed --quiet\n```\n",
    "a helper": "```python\ndef plus(a, b):\n    return a + b\n```\n```python\ndef add(a, b): return plus(a, b)\n```\n",
    "line ends": f"Here:\n```python\n{ADD}\n```\n".replace("\n", "\r\n"),
    "never closed": f"Here:\n```python\n{ADD}\n",
    "in a list": "1. Here:\n   ```python\n   def add(a, b):\n       return a + b\n   ```\n",
    "tagged as text": f"```text\n{ADD}\n```\n",
    "tagged with a version": f"```python3.11\n{ADD}\n```\n",
}


@pytest.mark.parametrize("text", MARKDOWN.values(), ids=MARKDOWN.keys())
async def test_a_correct_function_is_found_in_markdown(provider, text) -> None:
    cases = [TestCase(input=[1, 2], expected=3)]
    results = await run_tests(provider, text, "add", cases)
    assert calc_score(results) == 100, results
