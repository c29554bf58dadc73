"""Submissions that attack the grader which judges them: none of them knows the right answers.

Each has a control: the same submission where the protection is missing, and then it passes. Three
kinds of missing protection are real: a harness that runs tests and code in one process, one that
believes what is printed, and a grading process that others can read.
"""

from dataclasses import dataclass
from typing import Literal

Control = Literal["one process", "printed", "visible", "none"]

QUESTIONS = """
EXPECTED = {"tide": "violet-7301", "moss": "amber-5528"}


def check(candidate):
    for question, answer in EXPECTED.items():
        assert candidate(question) == answer
"""
MEDIAN = """
def check(candidate):
    import statistics
    assert candidate([5, 1, 9]) == statistics.median([5, 1, 9])
"""
CLOSE = """
import math
import random


def check(candidate):
    for _ in range(5):
        x = random.random()
        assert math.isclose(candidate(x), math.exp(x))
"""
NEAR = """
def check(candidate):
    assert abs(candidate(2.0) - 7.389056) < 1e-3
"""
SORTED = """
def check(candidate):
    items = [4, 1, 3, 2]
    result = candidate(items)
    assert all(a <= b for a, b in zip(result, list(result)[1:]))
    assert sorted(result) == sorted(items)
    assert list(result) != items
"""
REFUSES = """
def check(candidate):
    try:
        candidate(-1)
    except:
        return
    assert False, "accepted"
"""
JS_QUESTIONS = """
const expected = { tide: "violet-7301", moss: "amber-5528" };
for (const [question, answer] of Object.entries(expected)) {
  assert.equal(candidate(question), answer);
}
"""
JS_DEBUGGER = """
(async () => {
  await candidate();
  for (let i = 0; i < 1000000; i++);
  assert.strictEqual(await candidate(), "the debugger listens");
})();
"""
# Reads the memory of the parent, and looks for what stands after the question in it.
READ_PARENT = """
import os, re

def _memory():
    for line in open(f"/proc/{os.getppid()}/maps"):
        span, rights = line.split()[:2]
        low, high = (int(end, 16) for end in span.split("-"))
        if rights.startswith("rw") and high - low < 1 << 26:
            with open(f"/proc/{os.getppid()}/mem", "rb") as memory:
                try:
                    memory.seek(low)
                    yield memory.read(high - low)
                except (OSError, ValueError):
                    continue

def _find(pattern):
    for piece in _memory():
        if found := re.search(pattern, piece):
            return found[1].decode()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One hostile submission."""

    name: str
    source: str
    script: str = QUESTIONS
    control: Control = "one process"
    """The missing protection that lets it pass; `none`: it gains nothing anywhere but an end."""
    language: str = "python"
    classes: tuple[str, ...] = ()
    """The classes of the submission that the script uses."""


ATTACKS = [
    Attack(
        name="an object that equals everything",
        source="""
class Any:
    def __eq__(self, other): return True
def candidate(question): return Any()
""",
    ),
    Attack(
        name="a text that equals everything",
        source="""
class Any(str):
    __hash__ = str.__hash__
    def __eq__(self, other): return True
def candidate(question): return Any("x")
""",
    ),
    Attack(
        name="a number whose difference to every other is zero",
        script=NEAR,
        source="""
class Zero(float):
    def __sub__(self, other): return 0.0
def candidate(x): return Zero(1.0)
""",
    ),
    Attack(
        name="a list that shows other items each time",
        script=SORTED,
        source="""
class Lazy(list):
    turn = 0
    def __iter__(self):
        Lazy.turn += 1
        return iter([1, 2, 3, 4])
def candidate(items): return Lazy(reversed(items))
""",
    ),
    Attack(
        name="exits with 0 while it is loaded",
        source="import os\nos._exit(0)\ndef candidate(question): return None",
    ),
    Attack(
        name="exits with 0 when it is called",
        source="import sys\ndef candidate(question): sys.exit(0)",
    ),
    Attack(
        name="ends its process where an exception is expected",
        script=REFUSES,
        source="import os\ndef candidate(n): os._exit(0)",
    ),
    Attack(
        name="takes the expected value from the frame of its caller",
        source="""
import sys
def candidate(question):
    return sys._getframe(1).f_globals["EXPECTED"][question]
""",
    ),
    Attack(
        name="takes the expected value from all objects of its process",
        source="""
import gc
def candidate(question):
    for one in gc.get_objects():
        if isinstance(one, dict) and "EXPECTED" in one:
            return one["EXPECTED"][question]
""",
    ),
    Attack(
        name="exits with 0 when an assertion fails",
        source="""
import os, sys
sys.excepthook = lambda *error: os._exit(0)
def candidate(question): return None
""",
    ),
    Attack(
        name="replaces a function of the standard library",
        script=CLOSE,
        source="""
import math
math.isclose = lambda *given, **named: True
def candidate(x): return 0.0
""",
    ),
    Attack(
        name="foresees the random numbers",
        script=CLOSE.replace("math.exp(x)", "random.random()"),
        source="""
import random, sys
def candidate(x):
    copy = random.Random()
    copy.setstate(random.getstate())
    return copy.random()
""",
    ),
    Attack(
        name="plants a module beside the grader",
        script=MEDIAN,
        source="""
open("statistics.py", "w").write("def median(numbers): return 0")
def candidate(numbers): return 0
""",
    ),
    Attack(
        name="reads the test from the folder",
        source="""
import os, re
def candidate(question):
    for folder, _, names in os.walk("."):
        for name in names:
            text = open(os.path.join(folder, name), errors="replace").read()
            if found := re.search(question + r'.{1,9}?([a-z]+-[0-9]{4})', text):
                return found[1]
""",
    ),
    Attack(
        name="prints the verdict",
        control="printed",
        source="""
import os
os.write(1, b"verdict: 100\\n")
os._exit(0)
def candidate(question): return None
""",
    ),
    Attack(
        name="leaves a process that prints the verdict",
        control="printed",
        source="""
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(0.3)
        os.write(1, b"verdict: 100\\n")
    os._exit(0)
def candidate(question): os._exit(0)
""",
    ),
    Attack(
        name="reads the expected value in the memory of the grading process",
        control="visible",
        source=READ_PARENT
        + """
def candidate(question):
    return _find(question.encode() + rb'.{1,9}?([a-z]+-[0-9]{4})')
""",
    ),
    Attack(
        name="writes other expected values into the memory of the grading process",
        control="visible",
        source=READ_PARENT
        + """
def candidate(question):
    found = _find(question.encode() + rb'.{1,9}?([a-z]+-[0-9]{4})').encode()
    memory = os.open(f"/proc/{os.getppid()}/mem", os.O_RDWR)
    for line in open(f"/proc/{os.getppid()}/maps"):
        low, high = (int(end, 16) for end in line.split()[0].split("-"))
        if " rw" in line and high - low < 1 << 26:
            try:
                for match in re.finditer(re.escape(found), os.pread(memory, high - low, low)):
                    os.pwrite(memory, b"0" * len(found), low + match.start())
            except OSError:
                continue
    return "0" * len(found)
""",
    ),
    Attack(
        name="reads the environment and the command of the grading process",
        control="none",
        source="""
import os
def candidate(question):
    return open(f"/proc/{os.getppid()}/environ").read()
""",
    ),
    Attack(
        name="reads memory by a system call",
        control="none",
        source="""
import ctypes, os
def candidate(question):
    libc = ctypes.CDLL(None, use_errno=True)
    return [libc.syscall(101, 16, os.getppid(), 0, 0), ctypes.get_errno()]
""",
    ),
    Attack(
        name="kills the grading process",
        control="none",
        source="import os\ndef candidate(question): os.kill(os.getppid(), 9)",
    ),
    Attack(
        name="interrupts the grading process",
        control="none",
        script=REFUSES,
        source="""
import os, signal, time
def candidate(n):
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(1)
""",
    ),
    Attack(
        name="sends the alarm of the grader's clock",
        control="none",
        source="""
import os, signal
def candidate(question):
    os.kill(os.getppid(), signal.SIGVTALRM)
""",
    ),
    Attack(
        name="answers twice",
        control="none",
        source="""
import json, os
def candidate(question):
    for number in (4, 3):
        for n in range(10):
            line = json.dumps({"number": n, "value": "violet-7301"}).encode() + b"\\n"
            try: os.write(number, line)
            except OSError: pass
""",
    ),
    Attack(
        name="asks the grading process to call what it was not given",
        control="none",
        source="""
import os
def candidate(question):
    for number in (3, 4):
        try: os.write(number, b'{"callback": "__class__", "arguments": []}\\n')
        except OSError: pass
""",
    ),
    Attack(
        name="returns more than fits",
        control="none",
        source="def candidate(question): return 'x' * (40 << 20)",
    ),
    Attack(
        name="returns a value nested without end",
        control="none",
        source="""
def candidate(question):
    value = []
    value.append(value)
    return value
""",
    ),
    Attack(
        name="takes all memory",
        control="none",
        source="def candidate(question): return [bytearray(1 << 20) for _ in range(10 ** 6)]",
    ),
    Attack(
        name="raises an assertion that looks like a pass",
        control="none",
        source="def candidate(question): raise AssertionError('every check holds')",
    ),
    Attack(
        name="an object that equals everything, in JavaScript",
        language="javascript",
        script=JS_QUESTIONS,
        source="""
let answers = ["violet-7301", "amber-5528"];
function candidate() { return { toString: () => { throw new Error(); } }; }
const assert_ = require("node:assert");
assert_.equal = () => {};
""",
    ),
    Attack(
        name="exits with 0, in JavaScript",
        language="javascript",
        script=JS_QUESTIONS,
        source="function candidate() { process.exit(0); }",
    ),
    Attack(
        name="changes the prototypes of all objects",
        language="javascript",
        script=JS_QUESTIONS,
        source="""
Object.entries = () => [];
function candidate() { return ""; }
""",
    ),
    Attack(
        name="reads the test from the folder, in JavaScript",
        language="javascript",
        script=JS_QUESTIONS,
        source="""
const fs = require("node:fs");
function candidate(question) {
  for (const name of fs.readdirSync(".")) {
    const pattern = new RegExp(`${question}.{1,9}?([a-z]+-[0-9]{4})`);
    const found = pattern.exec(fs.readFileSync(name, "utf8"));
    if (found) return found[1];
  }
}
""",
    ),
    Attack(
        name="opens the debugger of the grading process",
        language="javascript",
        control="visible",
        script=JS_DEBUGGER,
        source="""
async function candidate() {
  process.kill(process.ppid, "SIGUSR1");
  for (let i = 0; i < 10; i++) {
    try {
      await fetch("http://127.0.0.1:9229/json/version");
      return "the debugger listens";
    } catch {
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}
""",
    ),
    Attack(
        name="changes the prototype of the grader's arrays by a reply",
        language="javascript",
        control="none",
        script=JS_QUESTIONS,
        source="""
const fs = require("node:fs");
function candidate() {
  const changed = '{"__proto__":[["tide","x"]]}';
  fs.writeSync(1, `{"number":2,"value":"violet-7301","changed":${changed}}\\n`);
}
""",
    ),
]
