"""Runs functions and programs in any sandbox, with files and commands only.

Everything goes through the `Sandbox` port, so it works with every provider. A program reads its
input as JSON from standard input and prints its result as JSON. Compilers run inside as well:
compiling already means running untrusted code. If a provider has no fast path, a function is called
by the same harness that a zygote's child runs, written into the sandbox as a file.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from arena.errors import AgentFault, NotFound
from arena.sandbox.errors import ProtocolViolation, SandboxFailed, ToolchainMissing
from arena.sandbox.languages import Language, language_named
from arena.sandbox.limits import COMPILE_SECONDS, Limit, Limits, TimeBudget
from arena.sandbox.ports import (
    CaseOutcome,
    ExecResult,
    FunctionCall,
    FunctionOutcome,
    Sandbox,
    SandboxProvider,
)
from arena.sandbox.results import complete, decode, over_limit, read_results
from arena.sandbox.submission import Code

INPUT, RESULTS = "input.json", "results"
MAX_SHOWN = 2000
COMMAND_NOT_FOUND = 127
RUN_SECONDS = Limits().wall_seconds
HARNESS = Path(__file__).with_name("harness")
PYTHON_MODULES = ("encode", "python_calls")
PYTHON_START = """
import sys, types
for name in ('arena', 'arena.sandbox', 'arena.sandbox.harness'):
    sys.modules[name] = types.ModuleType(name); sys.modules[name].__path__ = []
places = sys.modules['arena.sandbox.harness.hardening'] = types.ModuleType('hardening')
places.REQUEST, places.RESULT = 3, 4
for name, source in {modules!r}:
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(source, '<harness>', 'exec'), module.__dict__)
module.prepare({{}})
module.run()
"""
# The file of the driver, its command, and the program it needs.
DRIVERS = {
    "python": ("driver.py", "python3 -I driver.py", "python3"),
    "javascript": ("driver.js", "node --no-warnings driver.js", "node"),
}


async def run_program(
    provider: SandboxProvider,
    submission: Code,
    inputs: Sequence[Sequence[object]],
    budget: TimeBudget,
) -> FunctionOutcome:
    """Compile once, then run once per input, each in a separate process.

    Once the time of all runs together is spent, the remaining inputs count as over the limit.
    """
    language = language_named(submission.language)
    sandbox = await provider.create()
    try:
        await _require(sandbox, language)
        await sandbox.write_file(language.file, submission.source)
        failure = await _compile(sandbox, language, budget)
        if failure is not None:
            return FunctionOutcome(engine=language.name, cases=[failure] * len(inputs))
        cases = [await _run(sandbox, language, arguments, budget) for arguments in inputs]
    finally:
        await sandbox.destroy()
    return FunctionOutcome(engine=language.name, cases=cases)


async def _require(sandbox: Sandbox, language: Language) -> None:
    for program in language.needs:
        found = await sandbox.exec(f"command -v {program}")
        if found.exit_code != 0:
            hint = f"; install the package {language.package}" if language.package else ""
            raise ToolchainMissing(
                f"{language.name} programs need {program!r}, which the sandbox does not have{hint}"
            )


async def _compile(sandbox: Sandbox, language: Language, budget: TimeBudget) -> CaseOutcome | None:
    if language.compile is None:
        return None
    if not budget.left_seconds:
        return _not_reached(budget)
    seconds = min(COMPILE_SECONDS, budget.left_seconds)
    result = await sandbox.exec(language.compile, timeout=seconds)
    budget.spend(result.duration_ms, seconds)
    if result.exit_code == 0 and result.limit is None:
        return None
    shown = (result.stderr or result.stdout).strip()[:MAX_SHOWN]
    reason = f" (over the limit: {result.limit.value})" if result.limit else ""
    return CaseOutcome(error=f"does not compile{reason}: {shown}", limit=result.limit)


async def _run(
    sandbox: Sandbox, language: Language, arguments: Sequence[object], budget: TimeBudget
) -> CaseOutcome:
    left = budget.left_seconds
    if not left:
        return _not_reached(budget)
    try:
        await sandbox.write_file(INPUT, json.dumps(list(arguments)))
        # None: the provider's own limit, which an administrator may have changed.
        timeout = left if left < RUN_SECONDS else None
        result = await sandbox.exec(f"{language.run} < {INPUT}", timeout=timeout)
    except AgentFault as fault:
        # An earlier case may have replaced the input file by a link or a folder.
        return CaseOutcome(error=fault.message)
    budget.spend(result.duration_ms, RUN_SECONDS)
    return read_output(result)


def _not_reached(budget: TimeBudget) -> CaseOutcome:
    detail = f" (all cases together have {budget.total_seconds:g} s)"
    return over_limit(Limit.WALL_TIME, detail)


def read_output(result: ExecResult) -> CaseOutcome:
    """The value that a program printed: exactly one JSON document, with exit code 0."""
    duration_ms, stdout = result.duration_ms, result.stdout
    if result.limit is not None:
        return over_limit(result.limit, duration_ms=duration_ms)
    if result.exit_code != 0:
        shown = result.stderr.strip()[-MAX_SHOWN:]
        error = f"ended with exit code {result.exit_code}: {shown}"
        return CaseOutcome(error=error, duration_ms=duration_ms, stdout=stdout)
    try:
        value = decode(stdout)
    except ProtocolViolation as violation:
        shown = stdout.strip()[:200]
        error = f"standard output is not one JSON document ({violation}): {shown!r}"
        return CaseOutcome(error=error, duration_ms=duration_ms, stdout=stdout)
    return CaseOutcome(value=value, duration_ms=duration_ms, stdout=stdout)


async def call_in_sandbox(provider: SandboxProvider, call: FunctionCall) -> FunctionOutcome:
    """Run a submission's function once, with every input, in its own sandbox."""
    file, command, program = DRIVERS[call.language]
    sandbox = await provider.create()
    try:
        await sandbox.write_file(file, _driver(call.language))
        await sandbox.write_file("request.json", call.request())
        result = await sandbox.exec(f"{command} 3<request.json 4>{RESULTS}")
        if result.exit_code == COMMAND_NOT_FOUND and "not found" in result.stderr:
            raise ToolchainMissing(f"the sandbox does not have {program!r}; use another image")
        failure = _failure(result)
        try:
            written = await sandbox.read_file(RESULTS)
        except (AgentFault, NotFound) as fault:
            # The submission can reach the file and replace it.
            written, failure = "", CaseOutcome(error=fault.message)
    finally:
        await sandbox.destroy()
    results = read_results(written.encode("utf-8", errors="replace"), len(call.inputs))
    cases = complete(results, len(call.inputs), failure)
    return FunctionOutcome(
        engine=f"{program} in a sandbox", cases=cases, stdout=result.stdout, stderr=result.stderr
    )


def _driver(language: str) -> str:
    if language == "javascript":
        calls = (HARNESS / "calls.js").read_text()
        return (HARNESS / "node.js").read_text().replace("MAKE_CALLS", calls)
    modules = [
        (f"arena.sandbox.harness.{name}", (HARNESS / f"{name}.py").read_text())
        for name in PYTHON_MODULES
    ]
    return PYTHON_START.format(modules=modules)


def _failure(result: ExecResult) -> CaseOutcome:
    """Why a result is missing."""
    if result.limit is not None:
        return over_limit(result.limit)
    if result.exit_code < 0:
        raise SandboxFailed(f"the provider reports exit code {result.exit_code}")
    tail = result.stderr.strip()[-300:]
    return CaseOutcome(error=f"ended without a result (exit code {result.exit_code}): {tail}")
