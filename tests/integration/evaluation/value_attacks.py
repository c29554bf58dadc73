"""More attacks on graders: by what the submission returns, raises, replaces, prints or leaves."""

from .grader_attacks import Attack

NEAR_AREA = """
def check(candidate):
    shape = candidate(2)
    assert abs(shape.area() - 12.566370614359172) < 1e-9
"""
RATIO = NEAR_AREA.replace(
    "shape.area() - 12.566370614359172", "shape.area() / 12.566370614359172 - 1"
)
BETWEEN = """
def check(candidate):
    assert 12.56 < candidate(2).area() < 12.57
"""
EACH = """
EXPECTED = {1: "violet-7301", 2: "amber-5528"}


def check(candidate):
    for got, want in zip(map(candidate, EXPECTED), EXPECTED.values()):
        assert got == want
"""
ALL = """
def check(candidate):
    def is_right(number):
        return candidate(number) == number * 7919 % 1009

    assert all(map(is_right, range(2, 9)))
"""
CALLBACK = """
SECRET = "violet-7301"


def check(candidate):
    def is_it(guess):
        return guess == SECRET

    assert candidate(is_it) == SECRET
"""
RANDOM = """
import math
import random


def check(candidate):
    for _ in range(5):
        x = random.random()
        assert abs(candidate() - math.exp(x)) < 1e-9
"""
TESTS = """
def test_tide():
    assert candidate("tide") == "violet-7301"


def test_moss():
    assert candidate("moss") == "amber-5528"


def check(candidate):
    test_tide()
    test_moss()
"""
UNITTEST = """
import unittest


def check(candidate):
    unittest.TestCase().assertEqual(candidate("tide"), "violet-7301")


class Answers(unittest.TestCase):
    def test_answer(self):
        check(candidate)
"""
TYPED = """
def check(candidate):
    assert isinstance(candidate("tide"), str)
    assert candidate("tide") == "violet-7301"
"""
ROUNDED = """
def check(candidate):
    assert round(candidate(2.0), 2) == 7.39
"""
LOOKED_UP = """
def check(candidate):
    assert candidate()["tide"] == "violet-7301"
"""
CONTAINED = """
def check(candidate):
    assert candidate("tide") in ("violet-7301", "amber-5528")
"""
ASYNC = """
import asyncio


async def check(candidate):
    assert await candidate("tide") == "violet-7301"
"""
ASYNC_TEST = """
async def test_tide():
    assert await candidate("tide") == "violet-7301"
"""
JS_RANGE = """
const found = candidate();
if (!(found >= 7301 && found <= 7301)) throw new Error("wrong");
"""
JS_LATER = """
(async () => {
  await null;
  assert.strictEqual(await candidate("tide"), "violet-7301");
})();
"""
JS_HELPER = """
const { answers } = require("./answers");
for (const [question, answer] of answers) assert.equal(candidate(question), answer);
"""
CIRCLE = """
class Circle:
    def area(self): return self
    def __sub__(self, other): return 0.0
    def __truediv__(self, other): return {ratio}
    def __abs__(self): return 0.0
    def __lt__(self, other): return True
    __gt__ = __lt__
def candidate(radius): return Circle()
"""

VALUE_ATTACKS = [
    Attack(
        name="ends the loop over its values",
        script=EACH,
        source="""
def candidate(number): raise StopIteration
""",
    ),
    Attack(
        name="ends the loop over the checks",
        script=ALL,
        source="""
class Stop(StopIteration): pass
def candidate(number): raise Stop
""",
    ),
    Attack(
        name="ends the loop by a reply of its own",
        script=ALL,
        control="none",
        source="""
import os
def candidate(number):
    error = '{"type": "StopIteration", "builtin": "StopIteration", "message": "", "arguments": []}'
    for descriptor in range(3, 9):
        try: os.write(descriptor, b'{"number": 2, "error": %s}\\n' % error.encode())
        except OSError: pass
""",
    ),
    Attack(
        name="an object whose difference to everything is zero",
        script=NEAR_AREA,
        source=CIRCLE.format(ratio=1.0),
        classes=("Circle",),
    ),
    Attack(
        name="an object whose ratio to everything is one",
        script=RATIO,
        source=CIRCLE.format(ratio=1.0),
        classes=("Circle",),
    ),
    Attack(
        name="an object whose ratio is an object whose difference is zero",
        script=RATIO,
        source=CIRCLE.format(ratio="self"),
        classes=("Circle",),
    ),
    Attack(
        name="an object that is between all others",
        script=BETWEEN,
        source=CIRCLE.format(ratio=1.0),
        classes=("Circle",),
    ),
    Attack(
        name="an object that claims another class",
        script=TYPED,
        source="""
class Text:
    __class__ = str
    def __eq__(self, other): return True
def candidate(question): return Text()
""",
    ),
    Attack(
        name="a number that is rounded to everything",
        script=ROUNDED,
        source="""
class Equal(int):
    def __eq__(self, other): return True
class Round(float):
    def __round__(self, digits=0): return Equal()
def candidate(x): return Round()
""",
    ),
    Attack(
        name="a mapping whose values equal everything",
        script=LOOKED_UP,
        source="""
class Equal(str):
    def __eq__(self, other): return True
class Every(dict):
    def __getitem__(self, key): return Equal()
def candidate(): return Every(tide="x")
""",
    ),
    Attack(
        name="a text that is in every list",
        script=CONTAINED,
        source="""
class Equal(str):
    def __eq__(self, other): return True
def candidate(question): return Equal()
""",
    ),
    Attack(
        name="reads the globals of a function that it was given",
        script=CALLBACK,
        source="""
def candidate(is_it): return is_it.__globals__["SECRET"]
""",
    ),
    Attack(
        name="inspects the stack",
        source="""
import inspect
def candidate(question): return inspect.stack()[1].frame.f_locals["answer"]
""",
    ),
    Attack(
        name="replaces a built-in function",
        script=ALL,
        source="""
import builtins
builtins.all = lambda values: True
def candidate(number): return 0
""",
    ),
    Attack(
        name="replaces the source of random numbers",
        script=RANDOM,
        source="""
import math, random
random.random = lambda: 0.5
def candidate(): return math.exp(0.5)
""",
    ),
    Attack(
        name="replaces the assertions of unittest",
        script=UNITTEST,
        source="""
import unittest
unittest.TestCase.assertEqual = lambda *given: None
def candidate(question): return None
""",
    ),
    Attack(
        name="exits with 0 when the interpreter ends",
        source="""
import atexit, os
atexit.register(os._exit, 0)
def candidate(question): return None
""",
    ),
    Attack(
        name="leaves a thread that exits with 0",
        source="""
import os, threading, time
def later():
    time.sleep(0.3)
    os._exit(0)
threading.Thread(target=later).start()
def candidate(question): return None
""",
    ),
    Attack(
        name="an async check that nobody awaits",
        script=ASYNC,
        source="""
async def candidate(question): return None
""",
    ),
    Attack(
        name="an async test that nobody awaits",
        script=ASYNC_TEST,
        control="none",
        source="""
async def candidate(question): return None
""",
    ),
    Attack(
        name="raises an assertion with the word of a pass",
        script=TESTS,
        control="none",
        source="""
def candidate(question): raise AssertionError("passes")
""",
    ),
    Attack(
        name="brings tests that pass",
        script=TESTS,
        control="none",
        source="""
for _number in range(100): globals()[f"test_{_number}"] = lambda: None
def check(candidate): pass
def grade(submission): return 100
def candidate(question): return None
""",
    ),
    Attack(
        name="replaces the program of its own process",
        script=TESTS,
        control="none",
        source="""
import os
def candidate(question):
    os.unlink("runner.py")
    os.symlink("grading.py", "runner.py")
    os._exit(0)
""",
    ),
    Attack(
        name="an exception whose name is no name",
        control="none",
        source="""
def candidate(question): raise type("a\\udc80", (Exception,), {})
""",
    ),
    Attack(
        name="a fraction that takes all time to read",
        control="none",
        source="""
import os
def candidate(question):
    for descriptor in range(3, 9):
        try: os.write(descriptor, b'{"number": 2, "value": {"$": "Fraction", "v": "1e9999999"}}\\n')
        except OSError: pass
""",
    ),
    Attack(
        name="writes a verdict to every descriptor of every process",
        control="none",
        source="""
import glob, os
def candidate(question):
    line = b'{"nonce": "", "kind": "graded", "score": 100}\\n'
    for path in [*glob.glob("/proc/*/fd/*"), *(f"/proc/{os.getppid()}/fd/{n}" for n in range(9))]:
        try: os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), line)
        except OSError: pass
""",
    ),
    Attack(
        name="takes a descriptor of the grading process",
        control="none",
        source="""
import ctypes, os
def candidate(question):
    libc = ctypes.CDLL(None)
    process = libc.syscall(434, os.getppid(), 0)
    for number in range(9):
        taken = libc.syscall(438, process, number, 0)
        if taken >= 0: os.write(taken, b'{"kind": "graded", "score": 100}\\n')
""",
    ),
    Attack(
        name="lowers the limits of the grading process",
        control="none",
        source="""
import os, resource
def candidate(question):
    resource.prlimit(os.getppid(), resource.RLIMIT_AS, (0, 0))
    resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (0, 0))
""",
    ),
    Attack(
        name="an object that is another number each time, in JavaScript",
        language="javascript",
        script=JS_RANGE,
        source="""
let turn = 0;
function candidate() { return { valueOf: () => (turn++ ? -Infinity : Infinity) }; }
""",
    ),
    Attack(
        name="an object of a class that is another number each time, in JavaScript",
        language="javascript",
        script=JS_RANGE,
        classes=("Every",),
        source="""
let turn = 0;
class Every { toString() { return turn++ ? "-Infinity" : "Infinity"; } }
function candidate() { return new Every(); }
""",
    ),
    Attack(
        name="is right before the assertion is reached, in JavaScript",
        language="javascript",
        script=JS_LATER,
        source="""
async function candidate() { process.exit(0); }
""",
    ),
    Attack(
        name="is wrong in an assertion that waits, in JavaScript",
        language="javascript",
        control="none",
        script=JS_LATER,
        source="""
async function candidate() { return ""; }
""",
    ),
]
