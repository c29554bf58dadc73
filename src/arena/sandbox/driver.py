"""Functions in a plain sandbox: for providers that have files and commands but no fast path.

The same harness that a zygote's child runs is written into the sandbox as a file; the request and
the results travel as files, and the results are judged out here like any others.
"""

from importlib import resources

from arena.errors import AgentFault, NotFound
from arena.sandbox.errors import SandboxFailed, ToolchainMissing
from arena.sandbox.ports import CaseOutcome, ExecResult, FunctionCall, FunctionOutcome
from arena.sandbox.ports import SandboxProvider as Provider
from arena.sandbox.results import complete, read_results

HARNESS = "arena.sandbox.harness"
PYTHON_MODULES = ("encode", "tags", "python_calls")
RESULTS = "results"
COMMAND_NOT_FOUND = 127

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
PROGRAMS = {
    "python": ("driver.py", "python3 -I driver.py", "python3"),
    "javascript": ("driver.js", "node --no-warnings --stack-size=900 driver.js", "node"),
}


async def call_in_sandbox(provider: Provider, call: FunctionCall) -> FunctionOutcome:
    """Run a submission once, with every input, in a sandbox of its own."""
    file, command, program = PROGRAMS[call.language]
    sandbox = await provider.create()
    try:
        await sandbox.write_file(file, _driver(call.language))
        await sandbox.write_file("request.json", call.request())
        result = await sandbox.exec(f"{command} 3<request.json 4>{RESULTS}")
        if result.exit_code == COMMAND_NOT_FOUND and "not found" in result.stderr:
            raise ToolchainMissing(f"the sandbox does not have {program!r}; use another image")
        why = _why(result)
        try:
            written = await sandbox.read_file(RESULTS)
        except (AgentFault, NotFound) as fault:
            # It can reach the file and put something else there.
            written, why = "", CaseOutcome(error=fault.message)
    finally:
        await sandbox.destroy()
    results = read_results(written.encode("utf-8", errors="replace"), len(call.inputs))
    cases = complete(results, len(call.inputs), why)
    return FunctionOutcome(
        engine=f"{program} in a sandbox", cases=cases, stdout=result.stdout, stderr=result.stderr
    )


def _driver(language: str) -> str:
    folder = resources.files(HARNESS)
    if language == "javascript":
        calls = (folder / "calls.js").read_text()
        return (folder / "node.js").read_text().replace("MAKE_CALLS", calls)
    modules = [
        (f"{HARNESS}.{name}", (folder / f"{name}.py").read_text()) for name in PYTHON_MODULES
    ]
    return PYTHON_START.format(modules=modules)


def _why(result: ExecResult) -> CaseOutcome:
    if result.limit is not None:
        return CaseOutcome(error=f"over the limit: {result.limit.value}", limit=result.limit)
    if result.exit_code < 0:
        raise SandboxFailed(f"the provider reports exit code {result.exit_code}")
    tail = result.stderr.strip()[-300:]
    return CaseOutcome(error=f"ended without a result (exit code {result.exit_code}): {tail}")
