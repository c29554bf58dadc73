"""Runs a grader: an untrusted script that judges a submission, and may call its code.

Everything goes through the `Sandbox` port, so it works with every provider. Two processes share one
sandbox: the grading process, which holds the script and the channel of the verdict, and the process
of the submitted code. `harness/grading.py` says how the second is kept away from the first.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from arena.sandbox.errors import GraderFailed, SandboxFailed, ToolchainMissing
from arena.sandbox.limits import GRADING_SECONDS
from arena.sandbox.ports import ExecResult, Sandbox, SandboxProvider, SharedMachine
from arena.sandbox.submission import Code

HARNESS = Path(__file__).with_name("harness")
CODE_SECONDS = 10.0
"""All calls of the submitted code together."""
GRADER_SECONDS = 5.0
"""What a grader itself may compute."""
MAX_FINDINGS = 1000
MAX_SHOWN = 2000
NOT_FOUND = 127
REQUEST = "request.json"
PROGRAMS = {"python": "python3", "javascript": "node"}
OPTIONS = {"python": "-s", "javascript": "--no-warnings"}
ENDINGS = {"python": "py", "javascript": "js"}
MODULES = {
    "grading.py": ("grading_values", "grading_objects", "grading_code", "grading"),
    "runner.py": ("grading_values", "grading_runner"),
}
START = """
import sys, types
# The folder is the submission's to write to: nothing is imported from it.
del sys.path[0]
for name in ('arena', 'arena.sandbox', 'arena.sandbox.harness'):
    sys.modules[name] = types.ModuleType(name); sys.modules[name].__path__ = []
for name, source in {modules!r}:
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(source, '<harness>', 'exec'), module.__dict__)
module.main()
"""
# A process that is started from a file without read permission cannot be inspected by any other,
# and the dynamic loader can start every program: no need to copy the interpreter.
LOADERS = (
    "/lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 "
    "/lib/ld-musl-x86_64.so.1 /lib/ld-musl-aarch64.so.1"
)
HIDE = (
    f"for l in {LOADERS}; do [ -e $l ] && break; done; "
    "cp $l loader && chmod 111 loader || exit 126; "
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderCall:
    """A script, and what it has to judge."""

    language: str
    """Of the script: 'python' or 'javascript'."""
    script: str
    submission: Mapping[str, object]
    """As JSON: output, messages, steps, files, usage."""
    code: Code | None = None
    """The submitted code; None if the script calls none."""
    entry_points: Sequence[str] = ()
    classes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """What a grader found."""

    score: float
    reason: str
    findings: Sequence[Mapping[str, Any]] = ()
    engine: str = ""


async def run_grader(provider: SandboxProvider, grader: GraderCall) -> Grade:
    """The grade; `GraderFailed` if the script is at fault, not what it judges."""
    if isinstance(provider, SharedMachine):
        async with provider.slot():
            return await _run(provider, grader)
    return await _run(provider, grader)


async def _run(provider: SandboxProvider, grader: GraderCall) -> Grade:
    nonce = secrets.token_hex(16)
    sandbox = await provider.create()
    try:
        result = await _exec(sandbox, grader, nonce)
    finally:
        await provider.destroy(sandbox.id)
    return read_grade(result, nonce, runs_code=grader.code is not None)


async def _exec(sandbox: Sandbox, grader: GraderCall, nonce: str) -> ExecResult:
    code = grader.code
    runner = code.language if code else grader.language
    request = {
        "nonce": nonce,
        "script": grader.script,
        "submission": dict(grader.submission),
        "source": code.source if code else "",
        "entry_points": list(grader.entry_points),
        "classes": list(grader.classes),
        "runner": program(f"runner.{ENDINGS[runner]}"),
        "runner_language": runner,
        "code_seconds": CODE_SECONDS,
        "grader_seconds": GRADER_SECONDS,
    }
    file = f"grading.{ENDINGS[grader.language]}"
    await sandbox.write_file(file, program(file))
    await sandbox.write_file(REQUEST, json.dumps(request))
    result = await sandbox.exec(_command(grader, file), timeout=GRADING_SECONDS)
    if result.exit_code == NOT_FOUND and not result.stdout:
        needed = sorted({PROGRAMS[grader.language], PROGRAMS[runner]})
        raise ToolchainMissing(f"this grader needs {' and '.join(needed)} in the sandbox")
    return result


def _command(grader: GraderCall, file: str) -> str:
    """Start the grading process in place of the shell, which would keep the channel open."""
    program, option = PROGRAMS[grader.language], OPTIONS[grader.language]
    start = f"p=$(command -v {program}) || exit {NOT_FOUND}; "
    if grader.code is None:
        return f"{start}PYTHONHASHSEED=0 exec $p {option} {file}"
    runner, runner_option = PROGRAMS[grader.code.language], OPTIONS[grader.code.language]
    start += f"r=$(command -v {runner}) || exit {NOT_FOUND}; {HIDE}"
    if grader.language == "javascript":
        start += "mkfifo asks replies || exit 126; "
    return f"{start}PYTHONHASHSEED=0 exec ./loader $p {option} {file} $r {runner_option}"


@cache
def program(file: str) -> str:
    """The text of one of the two programs, as one file."""
    name, _, ending = file.partition(".")
    if ending == "js":
        values = (HARNESS / "grading_values.js").read_text()
        return values + (HARNESS / f"{name.replace('runner', 'grading_runner')}.js").read_text()
    modules = [
        (f"arena.sandbox.harness.{name}", (HARNESS / f"{name}.py").read_text())
        for name in MODULES[file]
    ]
    return START.format(modules=modules)


def read_grade(result: ExecResult, nonce: str, *, runs_code: bool) -> Grade:
    """The one line with the nonce. Without it nothing counts as a verdict.

    If submitted code ran, it may have ended the grading process, so this is its failure. The
    grading process itself says when the grader is at fault.
    """
    verdict = _verdict(result.stdout, nonce)
    if verdict is None:
        reason = _no_verdict(result)
        if runs_code:
            return Grade(score=0, reason=reason)
        raise GraderFailed(f"the grader gave no verdict: {reason}")
    reason = str(verdict.get("reason") or "")[:MAX_SHOWN]
    kind = verdict.get("kind")
    if kind == "unprotected":
        raise SandboxFailed(f"this sandbox cannot run own graders with code: {reason}")
    if kind != "graded":
        raise GraderFailed(reason or "the grader failed")
    return Grade(
        score=_score(verdict.get("score")),
        reason=reason,
        findings=findings_of(verdict.get("findings")),
        engine=str(verdict.get("engine") or "")[:100],
    )


def _verdict(stdout: str, nonce: str) -> dict[str, Any] | None:
    """The line of the grading process, if it is the only one."""
    line, newline, rest = stdout.partition("\n")
    if not newline or rest:
        return None
    try:
        document: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    verdict = cast("dict[str, Any]", document)
    given = verdict.get("nonce")
    is_ours = isinstance(given, str) and secrets.compare_digest(given.encode(), nonce.encode())
    return verdict if is_ours else None


def _no_verdict(result: ExecResult) -> str:
    if result.limit is not None:
        return f"over the limit: {result.limit.value}"
    if result.stdout:
        return "protocol violation: something else was written in place of the verdict"
    shown = result.stderr.strip()[-300:]
    ended = f"the grading process ended early (exit code {result.exit_code})"
    return f"{ended}: {shown}" if shown else ended


def _score(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= cast(float, value) <= 100:
        raise GraderFailed(f"the score of a grader is 0 to 100, not {str(value)[:100]}")
    return cast(float, value)


def findings_of(value: object) -> Sequence[Mapping[str, Any]]:
    """The findings that `grade` returned: texts, or objects with criterion, passed and reason."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise GraderFailed("the findings of a grader are a list")
    found: list[Mapping[str, Any]] = []
    for one in cast("list[object]", value)[:MAX_FINDINGS]:
        if isinstance(one, str):
            found.append({"reason": one})
        elif isinstance(one, dict):
            found.append(_finding(cast("dict[str, object]", one)))
        else:
            raise GraderFailed("a finding is a text, or an object with a criterion and a reason")
    return found


def _finding(given: dict[str, object]) -> Mapping[str, Any]:
    allowed = {"criterion": str, "reason": str, "passed": bool}
    if unknown := given.keys() - allowed.keys():
        raise GraderFailed(f"a finding has no {sorted(unknown)}; its keys are {sorted(allowed)}")
    for key, value in given.items():
        if not isinstance(value, allowed[key]):
            raise GraderFailed(f"a finding's {key} is {allowed[key].__name__}")
    return given
