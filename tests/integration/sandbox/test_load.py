"""Large standards, large inputs, high load, and a mix of hostile and harmless submissions."""

# ruff: noqa: E501 - the lines of a submission stay whole

import asyncio
import random

import pytest

from arena.sandbox.cases import calc_score, run_tests
from arena.sandbox.limits import Limit, Limits, cores, submissions_at_once
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.sandbox.ports import FunctionCall, TestCase
from integration.sandbox.machine import need_isolation


@pytest.fixture(autouse=True)
def isolation() -> None:
    need_isolation()


BUSY = """
import time
def f(seconds):
    while time.process_time() < seconds: pass
    return 'done'
"""


async def test_many_submissions_at_once_do_not_exceed_their_wall_time() -> None:
    """Each alone needs a third of its wall time; together they need more."""
    call = FunctionCall(language="python", source=BUSY, function_name="f", inputs=[[0.4]])
    async with NamespaceProvider(Limits(wall_seconds=1.2, cpu_seconds=5)) as provider:
        crowd = [provider.call(call) for _ in range(submissions_at_once())]
        outcomes = await asyncio.gather(*crowd)
    assert {outcome.cases[0].value for outcome in outcomes} == {"done"}, outcomes


async def test_many_programs_at_once_do_not_exceed_their_wall_time_either() -> None:
    """Together they need longer than any of them may wait for a core.

    Those that run at once need a sixth of it, so that a busy machine does not decide the test.
    """
    program = "import time\nwhile time.process_time() < 0.2: pass\nprint(input())"
    limits = Limits(wall_seconds=1.2, cpu_seconds=5)
    async with NamespaceProvider(limits) as provider:

        async def one(number: int) -> str | None:
            case = TestCase(input=[number], expected=[number])
            [result] = await run_tests(provider, program, None, [case], language="python")
            return result.error

        errors = await asyncio.gather(*map(one, range(8 * submissions_at_once())))
    assert set(errors) == {None}


async def test_a_sleeping_submission_hits_its_wall_time_under_load_too() -> None:
    sleep = "import time\ndef f(): time.sleep(600)"
    sleeper = FunctionCall(language="python", source=sleep, function_name="f", inputs=[[]])
    busy = FunctionCall(language="python", source=BUSY, function_name="f", inputs=[[0.3]])
    async with NamespaceProvider(Limits(wall_seconds=0.5, cpu_seconds=5)) as provider:
        crowd = [provider.call(busy) for _ in range(cores())]
        late, *_ = await asyncio.gather(provider.call(sleeper), *crowd)
    assert late.cases[0].limit is Limit.WALL_TIME


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("python", "def f(a, b): return {'sum': a + b}"),
        ("javascript", "function f(a, b) { return { sum: a + b }; }"),
    ],
    ids=["python", "javascript"],
)
async def test_ten_thousand_cases_in_one_submission(language, source) -> None:
    cases = [TestCase(input=[n, 1], expected={"sum": n + 1}) for n in range(10_000)]
    async with NamespaceProvider(Limits(wall_seconds=30.0, cpu_seconds=30)) as provider:
        results = await run_tests(provider, source, "f", cases, language=language)
    assert calc_score(results, 100) == 100
    assert len(results) == 10_000


@pytest.mark.parametrize("language", ["python", "javascript"])
async def test_a_mebibyte_of_input_and_output(language) -> None:
    text = "aé\n\0" * (1 << 18)
    source = {"python": "def f(s): return s[::-1]", "javascript": "function f(s) { return s; }"}
    expected = text[::-1] if language == "python" else text
    async with NamespaceProvider(Limits(wall_seconds=30.0, cpu_seconds=30)) as provider:
        case = TestCase(input=[text], expected=expected)
        results = await run_tests(provider, source[language], "f", [case] * 2, language=language)
    assert [result.passed for result in results] == [True, True], results[0].error


async def test_sixty_four_submissions_at_once() -> None:
    async with NamespaceProvider(Limits(wall_seconds=30.0)) as provider:

        async def one(number: int) -> bool:
            language = ("python", "javascript")[number % 2]
            source = {
                "python": f"def f(x): return x + {number}",
                "javascript": f"function f(x) {{ return x + {number}; }}",
            }[language]
            case = TestCase(input=[1], expected=1 + number)
            results = await run_tests(provider, source, "f", [case], language=language)
            return results[0].passed

        assert all(await asyncio.gather(*map(one, range(64))))


HOSTILE_PYTHON = [
    ("import os\nos._exit(0)", None),
    ("def f(x): return bytearray(1 << 34)", Limit.MEMORY),
    ("import os\ndef f(x):\n    while True: os.write(1, b'x' * 65536)", Limit.OUTPUT),
    ("import ctypes\ndef f(x): ctypes.string_at(0)", None),
    ("import os\ndef f(x):\n    for _ in range(100): os.fork()", None),
    ("import os\ndef f(x): os.kill(-1, 9); os.kill(os.getppid(), 9); os.abort()", None),
    ("import os\ndef f(x):\n    os.write(4, b'[0,\"value\",1,0]\\n' * 9); return x", None),
    (
        "import os\ndef f(x):\n    for n in range(999): open(f'/tmp/{n}', 'w').write('x' * 9999)",
        None,
    ),
    ("import builtins\nbuiltins.len = None\ndef f(x): return [x] * 10**8", None),
    ("def f(x:", None),
]
HOSTILE_JAVASCRIPT = [
    (
        "function f(x) { const a = []; for (;;) a.push(new Uint8Array(1 << 26).fill(1)); }",
        Limit.MEMORY,
    ),
    ("function f(x) { return f(x) + 1; }", None),
    (
        "Object.prototype.toJSON = Array.prototype.map = () => 1; function f(x) { return () => 1; }",
        None,
    ),
    ("function f(x) { x = []; x.push(x); return x; }", None),
    ("function f(x) {", None),
    ("process.exit(0)", None),
    (
        "function f(x) { process.kill(-1, 9); process.kill(process.ppid, 9); process.abort(); }",
        None,
    ),
    (
        "const fs = require('fs'); function f(x) {"
        " for (;;) try { fs.writeSync(1, 'x'.repeat(65536)); } catch (e) { if (e.code !== 'EAGAIN') throw e; } }",
        Limit.OUTPUT,
    ),
    (
        "function f(x) { const a = []; for (;;) a.push(Buffer.alloc(1 << 26, 1)); }",
        Limit.MEMORY,
    ),
    (
        "const fs = require('fs'); function f(x) {"
        " fs.writeSync(4, '[0,\"value\",1,0]\\n'.repeat(9)); return x; }",
        None,
    ),
    (
        "const fs = require('fs'); function f(x) {"
        " for (let n = 0; n < 999; n++) fs.writeFileSync('/tmp/' + n, 'x'.repeat(9999)); }",
        None,
    ),
]
HOSTILE = {"python": HOSTILE_PYTHON, "javascript": HOSTILE_JAVASCRIPT}


def hostile_submission(number: int) -> tuple[str, str, Limit | None]:
    """Language, source and the limit it runs into; JavaScript's are slower, so there are fewer."""
    language = ("python", "python", "javascript", "python", "javascript")[number % 5]
    texts = HOSTILE[language]
    source, limit = texts[number // 5 % len(texts)]
    return language, source, limit


async def test_a_thousand_hostile_and_harmless_submissions_mixed() -> None:
    chance = random.Random(4)
    async with NamespaceProvider(Limits(wall_seconds=20.0, cpu_seconds=20)) as provider:

        async def harmless(number: int) -> bool:
            language = ("python", "javascript")[number % 2]
            source = {
                "python": f"import os\ndef f(x):\n    open('/tmp/mine', 'x').write('{number}')\n"
                f"    return [x, {number}, len(os.listdir('/tmp'))]",
                "javascript": f"function f(x) {{ globalThis_{number} = x; return [x, {number}, 1]; }}",
            }[language]
            call = FunctionCall(
                language=language, source=source, function_name="f", inputs=[["a"], ["b"]]
            )
            outcome = await provider.call(call)
            first = outcome.cases[0]
            return first.value == ["a", number, 1] and first.error is None

        async def hostile(number: int) -> bool:
            language, source, limit = hostile_submission(number)
            call = FunctionCall(language=language, source=source, function_name="f", inputs=[[1]])
            case = (await provider.call(call)).cases[0]
            return case.error is not None and (limit is None or case.limit is limit)

        work = [(harmless, n) for n in range(700)] + [(hostile, n) for n in range(300)]
        chance.shuffle(work)
        verdicts = await asyncio.gather(*(act(number) for act, number in work))
    assert [work[place] for place, good in enumerate(verdicts) if not good] == []


async def test_concurrent_submissions_cannot_talk_to_each_other() -> None:
    """Each tries for half a second to leave a message and to find those of the others."""
    source = """
import fcntl, glob, os, socket, time
def attempt(action):
    try: return action()
    except OSError: return None
def locked(file):
    try: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB); fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError: return True
    except OSError: pass
    return False
def f(name):
    found = []
    shared = [open(p) for p in glob.glob('/usr/lib/*/libc.so.6')] + [open('/dev/null', 'w'), open('/dev/zero', 'w')]
    end = time.monotonic() + 0.5
    server = attempt(lambda: socket.socket(socket.AF_UNIX))
    if server: found.append('socket')
    while time.monotonic() < end:
        for folder in ('/tmp', '/dev/shm', '/desk', '/dev', '/'):
            attempt(lambda: open(f'{folder}/from-{name}', 'w').close())
            found += [n for n in os.listdir(folder) if n.startswith('from-') and n != f'from-{name}']
        found += [p for p in os.listdir('/proc') if p.isdigit() and p != '1']
        found += [file.name for file in shared if locked(file)]
        found += [d for d in ('null', 'zero', 'random') if attempt(lambda: os.utime('/dev/' + d) or 'changed')]
        time.sleep(0.01)
    return found
"""
    async with NamespaceProvider(Limits(wall_seconds=20.0)) as provider:
        calls = [
            FunctionCall(language="python", source=source, function_name="f", inputs=[[name]])
            for name in ("first", "second", "third", "fourth")
        ]
        outcomes = await asyncio.gather(*map(provider.call, calls))
    assert [outcome.cases[0].value for outcome in outcomes] == [[], [], [], []]


async def test_large_honest_results_are_right() -> None:
    cases = [
        TestCase(input=["text"], expected="a,[" * 2_000_000),
        TestCase(input=["list"], expected=list(range(200_000))),
    ]
    source = "def f(kind): return 'a,[' * 2_000_000 if kind == 'text' else list(range(200_000))"
    async with NamespaceProvider(Limits()) as provider:
        assert calc_score(await run_tests(provider, source, "f", cases)) == 100


async def test_a_result_of_countless_values_is_over_the_limit() -> None:
    source = "def f(): return [[]] * 700_000"
    async with NamespaceProvider(Limits()) as provider:
        [result] = await run_tests(provider, source, "f", [TestCase(input=[], expected=1)])
    assert result.limit is Limit.RESULT
    assert "result_size" in str(result.error)
