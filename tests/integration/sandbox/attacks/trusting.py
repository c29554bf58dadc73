"""The protocol with its rules switched off: a judge that believes everything.

The harness asks the submission's own objects and its own clock, waits for nothing and ends like
any program; the reader takes whatever stands on the result descriptor, or was printed, for the
answer, the last word for the best, and a silent end for success. A tester who writes the obvious
thing writes this.
"""

import json
from dataclasses import replace

from arena.sandbox.harness import encode as real_encode
from arena.sandbox.namespace import children
from arena.sandbox.ports import CaseOutcome
from arena.sandbox.results import Results

MAX_ARGUMENT_BYTES = 1 << 17
"""As long as an argument of a command may be: the obvious way to hand a text over."""
ANSWER = "expected-never-sent"

ENCODE = """
import json, sys
from json.encoder import encode_basestring_ascii as quote
MAX_DEPTH = 10**9
class NotEncodable(Exception): pass
def encode(value, depth=0):
    sys.set_int_max_str_digits(0)
    return sys.modules["json"].dumps(value, default=repr, skipkeys=True)
"""
# The real text and its replacement.
PYTHON_CALLS = (
    ('hasattr(value, "__await__")', "False"),
    ('sys.stdout = io.TextIOWrapper(wrapped, encoding="utf-8", errors="backslashreplace")',
     'sys.stdout = io.TextIOWrapper(wrapped, encoding="utf-8", errors="strict")'),
    ("    os.close(RESULT)\n    _exit(0)", "    end_like_any_program()\n    _exit(0)"),
    ("    for index, item in enumerate(inputs):\n",
     f"    import time\n    expected = '{ANSWER}'\n    for index, item in enumerate(inputs):\n"
     "        begun = time.monotonic()\n"),
    ('emit(f"[{index},{line},{flushed()}]")',
     'flushed(); emit(f"[{index},{line},{int((time.monotonic() - begun) * 1000)}]")'),
)  # fmt: skip
PYTHON_END = """
def end_like_any_program():
    import atexit, threading
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.main_thread(): thread.join()
    atexit._run_exitfuncs()
"""
CALLS_JS = """((host) => {
  const primitive = (value) =>
    value && value[Symbol.toPrimitive] ? value[Symbol.toPrimitive]() : value;
  const encode = (value) => {
    if (typeof value === "string") return '"' + value + '"';
    const text = JSON.stringify(primitive(value));
    return text === undefined ? "null" : text;
  };
  const describe = (error) => `"error",${JSON.stringify(String(error))}`;
  const tell = (index, act) => {
    let content;
    try { content = `"value",${encode(act())}`; } catch (error) { content = describe(error); }
    host.emit(`[${index},${content},0]`);
  };
  const callNow = (subject, text, index) => {
    let value;
    try { value = subject(...JSON.parse(text)); }
    catch (error) { return tell(index, () => { throw error; }); }
    // It knows promises by their class, and async functions not at all.
    if (value instanceof Promise && subject.constructor === Function) {
      return value.then((settled) => tell(index, () => settled));
    }
    return tell(index, () => value);
  };
  const missing = (name) => `[-1,"error","there is no ${name}",0]`;
  return { callNow, describe, missing, parse: JSON.parse };
})"""
NODE_JS = (
    # It exits when nothing is left to do, and keeps the expected answer in memory.
    ("    closeSync(RESULT);\n    reallyExit(0);\n  };\n", "  };\n"),
    ("const main = async () => {", f"const main = async () => {{ const expected = '{ANSWER}';"),
)  # fmt: skip
OTHERS = {
    # No process is killed, no CPU time is limited, and the environment is inherited.
    "workspace_calls": (
        ("    _kill_all()\n", ""),
        ("        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))\n", ""),
        ('["sh", "-c", command], ENVIRONMENT)', '["sh", "-c", command], os.environ)'),
        # Files are opened by path, and links are followed.
        ("    parent, name = open_parent(path, create=False)\n",
         '    return os.open(os.path.join(_state["root"], path), os.O_RDONLY)\n'),
    ),
    "node_calls": (('_state["arguments"], {})', '_state["arguments"], os.environ)'),),
    # The harness stays visible, and so does every descriptor.
    "zygote": (
        ("    os.environ.clear()\n", ""),
        ("        del sys.modules[name]\n", "        pass\n"),
    ),
    "hardening": (
        ('        self.table.add("close_range", FIRST_FREE, TO_THE_LAST, 0)\n', ""),
    ),
}  # fmt: skip


def doctored(document: dict) -> dict:
    """The configuration of a zygote, with the rules taken out of its harness."""
    modules = []
    for name, text in document["modules"]:
        last = name.rpartition(".")[2]
        if last == "encode":
            text += ENCODE
        elif last == "python_calls":
            text = _replaced(text, PYTHON_CALLS) + PYTHON_END
        else:
            text = _replaced(text, OTHERS.get(last, ()))
        modules.append((name, text))
    scripts = document["scripts"]
    if scripts:
        node = _replaced(scripts["node.js"], NODE_JS)
        scripts = {**scripts, "calls.js": CALLS_JS, "node.js": node}
    return {**document, "modules": modules, "scripts": scripts}


def _replaced(text: str, replacements) -> str:
    for real, other in replacements:
        assert real in text, f"the harness no longer says {real!r}"
        text = text.replace(real, other)
    return text


def believe_everything() -> None:
    """Switch the rules off in this process from now on."""
    children.read_results = _read
    children._is_complete = lambda child, count: False
    children.failure_of = lambda child, exit, limits: CaseOutcome()
    children.READY = b""
    children.complete = lambda results, count, failure: _as_many(results, count)
    children._explained = lambda child, results, failure: _with_printed(child, results)
    children._with_marks = _timed_inside
    children.Drain.text = lambda drain: drain.data.decode("utf-8", errors="replace")


def _frames(data: bytes) -> list[tuple[CaseOutcome, int]]:
    found = []
    for line in data.removeprefix(b'{"ready":1}\n').splitlines():
        try:
            _, _, content, mark = json.loads(
                line, object_hook=_untag, parse_int=float, parse_constant=lambda name: None
            )
            found.append((CaseOutcome(value=content), int(mark)))
        except (ValueError, TypeError, RecursionError, OverflowError):
            found.append((CaseOutcome(value=line.decode(errors="replace")), 0))
    return found


def _untag(document: dict) -> object:
    return None if real_encode.TAG in document else document


def _read(data: bytes, count: int) -> Results:
    frames = _frames(data)
    return Results(outcomes=[one for one, _ in frames], output_marks=[mark for _, mark in frames])


def _with_printed(child, results: Results) -> Results:
    printed = [one for one in _frames(bytes(child.pipes.stdout.data)) if one[0].value == "printed"]
    return replace(results, outcomes=[*results.outcomes, *(one for one, _ in printed)])


def _as_many(results: Results, count: int) -> list[CaseOutcome]:
    """The last results count; a missing one is taken for success."""
    last = list(results.outcomes)[-count:]
    return last + [CaseOutcome()] * (count - len(last))


def _timed_inside(child, cases, marks) -> list[CaseOutcome]:
    stdout = child.pipes.stdout.text()
    times = [*marks, *[0] * len(cases)]
    return [
        replace(case, duration_ms=float(times[place]), stdout=stdout)
        for place, case in enumerate(cases)
    ]
