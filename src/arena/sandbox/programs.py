"""Whole programs: the input as JSON on standard input, the result as JSON on standard output.

Everything goes through the `Sandbox` port, so it runs with every provider. The compiler runs
inside as well: compiling is already running foreign code.
"""

import json
from collections.abc import Sequence

from arena.errors import AgentFault
from arena.sandbox.errors import ProtocolViolation, ToolchainMissing
from arena.sandbox.languages import Language, Languages
from arena.sandbox.ports import CaseOutcome, ExecResult, FunctionOutcome, Sandbox, SandboxProvider
from arena.sandbox.results import decode
from arena.sandbox.submission import Submission

INPUT = "input.json"
MAX_SHOWN = 2000
COMMAND_NOT_FOUND = 127
COMPILE_SECONDS = 60.0


async def run_program(
    provider: SandboxProvider,
    submission: Submission,
    inputs: Sequence[Sequence[object]],
    languages: Languages,
) -> FunctionOutcome:
    """Compile once, run once per input, each run a process of its own."""
    language = languages.named(submission.language)
    sandbox = await provider.create()
    try:
        await _require(sandbox, language)
        await sandbox.write_file(language.file, submission.source)
        failure = await _compile(sandbox, language)
        if failure is not None:
            return FunctionOutcome(engine=language.name, cases=[failure] * len(inputs))
        cases = [await _run(sandbox, language, arguments) for arguments in inputs]
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


async def _compile(sandbox: Sandbox, language: Language) -> CaseOutcome | None:
    if language.compile is None:
        return None
    result = await sandbox.exec(language.compile, timeout=COMPILE_SECONDS)
    if result.exit_code == 0 and result.limit is None:
        return None
    shown = (result.stderr or result.stdout).strip()[:MAX_SHOWN]
    reason = f" (over the limit: {result.limit.value})" if result.limit else ""
    return CaseOutcome(error=f"does not compile{reason}: {shown}", limit=result.limit)


async def _run(sandbox: Sandbox, language: Language, arguments: Sequence[object]) -> CaseOutcome:
    try:
        await sandbox.write_file(INPUT, json.dumps(list(arguments)))
        result = await sandbox.exec(f"{language.run} < {INPUT}")
    except AgentFault as fault:
        # An earlier case has put something else where the input belongs.
        return CaseOutcome(error=fault.message)
    return read_output(result)


def read_output(result: ExecResult) -> CaseOutcome:
    """What a program's output says: exactly one JSON document, and exit code 0."""
    if result.limit is not None:
        return CaseOutcome(
            error=f"over the limit: {result.limit.value}",
            limit=result.limit,
            duration_ms=result.duration_ms,
        )
    if result.exit_code != 0:
        shown = result.stderr.strip()[-MAX_SHOWN:]
        error = f"ended with exit code {result.exit_code}: {shown}"
        return CaseOutcome(error=error, duration_ms=result.duration_ms, stdout=result.stdout)
    try:
        value = decode(result.stdout)
    except ProtocolViolation as violation:
        shown = result.stdout.strip()[:200]
        error = f"standard output is not one JSON document ({violation}): {shown!r}"
        return CaseOutcome(error=error, duration_ms=result.duration_ms, stdout=result.stdout)
    return CaseOutcome(value=value, duration_ms=result.duration_ms, stdout=result.stdout)
