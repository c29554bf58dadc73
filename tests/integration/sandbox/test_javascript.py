"""JavaScript gives V8's answers: generated programs, in Arena's sandbox and in plain Node.

`make test` runs a sample; `make fuzz` runs 20,000 programs. The seed is in the output and in every
failure; `ARENA_FUZZ_SEED=7 ARENA_FUZZ_PROGRAMS=300` repeats it.
"""

import asyncio
import json
import os
import struct
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from arena.sandbox.limits import Limits
from arena.sandbox.namespace.launch import find_node
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.sandbox.ports import CaseOutcome, FunctionCall
from arena.sandbox.values import UNDEFINED, MapValue, SetValue
from integration.sandbox.javascript.programs import Program, program, submission
from integration.sandbox.machine import need, need_isolation

pytestmark = pytest.mark.asyncio(loop_scope="module")
SEED = int(os.environ.get("ARENA_FUZZ_SEED", "12"))
PROGRAMS = int(os.environ.get("ARENA_FUZZ_PROGRAMS", "300"))
BATCH = 50
REFERENCE = Path(__file__).parent / "javascript" / "reference.js"
Shown = list[object]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncIterator[NamespaceProvider]:
    need_isolation()
    need(find_node() is not None, "Node is not installed")
    limits = Limits(wall_seconds=60.0, cpu_seconds=60, output_bytes=16 << 20)
    async with NamespaceProvider(limits) as provider:
        yield provider


async def in_plain_node(source: str, inputs: Sequence[Sequence[object]]) -> tuple[list[Shown], str]:
    """Every result, as plain Node shows it, and what was printed."""
    reader, writer = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            str(find_node()), str(REFERENCE), str(writer),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, env={"TZ": "UTC"}, cwd="/", pass_fds=[writer],
        )  # fmt: skip
    finally:
        os.close(writer)
    request = json.dumps({"source": source, "inputs": inputs}).encode()
    with os.fdopen(reader) as results:
        shown, (stdout, stderr) = await asyncio.gather(
            asyncio.to_thread(results.read), process.communicate(request)
        )
    assert shown, f"plain node failed: {stderr.decode()[:3000]}"
    return json.loads(shown), stdout.decode()


def is_same(shown: Shown, value: object) -> bool:
    """Whether Arena's value is the one that plain Node showed."""
    kind, *rest = shown
    content: object = rest[0] if rest else None
    if kind in ("null", "boolean", "undefined"):
        return value is {"null": None, "boolean": content, "undefined": UNDEFINED}[str(kind)]
    if kind == "number":
        number = struct.unpack(">d", bytes.fromhex(str(content).zfill(16)))[0]
        if type(value) is float:
            return struct.pack(">d", value) == struct.pack(">d", number) or (
                value != value and number != number
            )
        return type(value) is int and value == number
    if kind == "integer":
        return type(value) is int and str(value) == content
    if kind == "string":
        assert isinstance(content, list)
        units = struct.pack(f">{len(content)}H", *content)
        return isinstance(value, str) and value.encode("utf-16-be", "surrogatepass") == units
    return _is_same_container(str(kind), content, value)


def _is_same_container(kind: str, content: object, value: object) -> bool:
    assert isinstance(content, list)
    if kind in ("array", "set"):
        items = value.members if isinstance(value, SetValue) else value
        right = isinstance(value, SetValue if kind == "set" else list)
        return right and len(items) == len(content) and all(map(is_same, content, items))
    if kind == "map":
        pairs = list(value.entries) if isinstance(value, MapValue) else None
    else:
        # Equal as objects are, and in the same order too.
        pairs = list(value.items()) if isinstance(value, dict) else None
    return (
        pairs is not None
        and len(pairs) == len(content)
        and all(
            is_same(k, key) and is_same(v, item)
            for (k, v), (key, item) in zip(content, pairs, strict=True)
        )
    )


def agrees(shown: Shown, case: CaseOutcome) -> bool:
    if shown[0] == "none":
        return str(case.error).startswith("the result holds a ")
    if shown[0] == "error":
        return case.error is not None and is_same(
            shown[1], case.error.removesuffix(" (over the limit: memory)")
        )
    return case.error is None and is_same(shown, case.value)


async def differences(provider: NamespaceProvider, programs: Sequence[Program]) -> list[str]:
    source = submission(list(programs))
    inputs = [[place] for place in range(len(programs))]
    call = FunctionCall(language="javascript", source=source, function_name="f", inputs=inputs)
    outcome, (shown, printed) = await asyncio.gather(
        provider.call(call), in_plain_node(source, inputs)
    )
    found = [
        f"{one.body}\n  node: {there}\n  arena: {here}"
        for one, there, here in zip(programs, shown, outcome.cases, strict=True)
        if not agrees(there, here)
    ]
    if outcome.stdout != printed:
        found.append(f"{source}\n  node printed: {printed!r}\n  arena: {outcome.stdout!r}")
    return found


def batches() -> list[list[Program]]:
    every = [program(SEED, number) for number in range(PROGRAMS)]
    together = [one for one in every if not one.alone]
    grouped = [together[start : start + BATCH] for start in range(0, len(together), BATCH)]
    return grouped + [[one] for one in every if one.alone]


async def test_generated_programs_give_the_answers_of_plain_node(provider) -> None:
    print(f"seed {SEED}, {PROGRAMS} programs")
    turns = asyncio.Semaphore(2)

    async def one(programs: list[Program]) -> list[str]:
        async with turns:
            return await differences(provider, programs)

    found = [text for some in await asyncio.gather(*map(one, batches())) for text in some]
    assert not found, f"seed {SEED}: {len(found)} differences, first:\n{found[0][:4000]}"
