"""The language of code that nobody named: evident, or refused; nothing is scored."""

# ruff: noqa: E501 - the lines of a submission stay whole

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio

from arena.sandbox.cases import read_code, run_tests
from arena.sandbox.errors import LanguageRefused, LimitReached, ToolchainMissing
from arena.sandbox.evident_language import CHECKS
from arena.sandbox.limits import Limits
from arena.sandbox.namespace.launch import find_node
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.sandbox.ports import FunctionCall, FunctionOutcome
from integration.sandbox.machine import need, need_isolation
from integration.sandbox.test_programs import PROGRAMS

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncIterator[NamespaceProvider]:
    need_isolation()
    need(find_node() is not None, "Node is not installed")
    async with NamespaceProvider(Limits(wall_seconds=30.0, cpu_seconds=30)) as provider:
        yield provider


EVIDENT = {
    "the seed's function": ("javascript", "function add(a, b) { return a + b }"),
    "an arrow": ("javascript", "const add = (a, b) => a + b"),
    "an export": ("javascript", "export function add(a, b) { return a + b }"),
    "an import": (
        "javascript",
        "import fs from 'node:fs'\nexport default function add(a, b) { return a + b }",
    ),
    "exports": ("javascript", "module.exports = { add(a, b) { return a + b } }"),
    "an anonymous export": ("javascript", "module.exports = (a, b) => a + b"),
    "assigned to the global object": ("javascript", "globalThis.add = (a, b) => a + b;"),
    "a first line": ("javascript", "#!/usr/bin/env node\nfunction add(a, b) { return a + b }"),
    "indented": ("javascript", "  function add(a, b) { return a + b }"),
    "a fence without a tag": ("javascript", "Here:\n```\nfunction add(a, b) { return a + b }\n```"),
    "a definition": ("python", "def add(a, b): return a + b"),
    "a coroutine": ("python", "async def add(a, b): return a + b"),
    "a lambda": ("python", "add = lambda a, b: a + b"),
    "imported": ("python", "from operator import add"),
    "in a block": ("python", "if True:\n    def add(a, b): return a + b"),
    "a tuple": ("python", "add, other = (lambda a, b: a + b), None"),
    "tagged as text": ("python", "```text\ndef add(a, b): return a + b\n```"),
}


@pytest.mark.parametrize(("language", "text"), EVIDENT.values(), ids=EVIDENT.keys())
async def test_a_function_in_one_language_is_evident(provider, language, text) -> None:
    assert (await read_code(provider, text, function_name="add")).language == language


UNCLEAR = {
    "parses in both": "foo(1)",
    "defined in both": "add = plus",
    "a polyglot": "1 // 1; x = '''\nfunction add(a) { return a } /*\n'''\ndef add(a): return a\n# */\n",
    "another function": "def other(a, b): return a + b",
    "another function in a fence": "```\nfunction other() {}\n```",
    "does not parse": "function add(a, b) { return a + b",
    "only spoken of": "I would define add(a, b) like this.",
    "TypeScript": "function add(a: number, b: number): number { return a + b }",
    "Lua": "function add(a, b) return a + b end",
    "PHP": "<?php function add($a, $b) { return $a + $b; }",
    "Ruby": "def add(a, b)\n  a + b\nend",
    "Go": "func add(a int, b int) int { return a + b }",
    "Rust": "fn add(a: i32, b: i32) -> i32 { a + b }",
    "shell": "function add() { echo $(($1 + $2)); }",
    "Perl": "sub add { return $_[0] + $_[1] }",
    "nothing": "",
    "spaces": " \n\t",
    "deep in Python": "add = " + "-" * 200_000 + "1",
    "deep in both": "add = " + "(" * 100_000,
    "many spaces": "function" + " " * 100_000 + "add" + " " * 100_000,
}  # fmt: skip


@pytest.mark.parametrize("text", UNCLEAR.values(), ids=UNCLEAR.keys())
async def test_a_function_that_is_not_evident_is_refused(provider, text) -> None:
    cases = [{"input": [1, 2], "expected": 3}]
    with pytest.raises(LanguageRefused, match=r"not evident.*name it: in the field `language`"):
        await run_tests(provider, text, "add", cases)


PROGRAM_LANGUAGES = {
    "json and sys": ("python", "import json, sys\nprint(json.dumps(sum(json.load(sys.stdin))))"),
    "a loop": ("python", "for n in range(1):\n    print(6)"),
    "console": ("javascript", "console.log(6)"),
    "a module": ("javascript", "import { readFileSync } from 'node:fs';\nconst x = await readFileSync(0);\nprocess.stdout.write(`${x}`)"),
    "its first line": ("ruby", "#!/usr/bin/env ruby\nputs 6"),
    "a shell's first line": ("shell", "#!/bin/bash\necho 6"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "text"), PROGRAM_LANGUAGES.values(), ids=PROGRAM_LANGUAGES.keys()
)
async def test_a_program_with_what_one_language_has_is_evident(provider, language, text) -> None:
    assert (await read_code(provider, text)).language == language


RAW = {name: text for name, text in PROGRAMS.items() if name not in ("python", "javascript")} | {
    "print": "print(6)",
    "a word": "ls",
    "Swift": 'import Foundation\nprint("[6]")',
    "prose": "I cannot do that.",
    "TypeScript with console": "const n: number = 6;\nconsole.log(n);",
    "a Perl program that JavaScript accepts": "$x = 6; print($x);",
}


@pytest.mark.parametrize("text", RAW.values(), ids=RAW.keys())
async def test_a_program_that_names_no_language_is_refused(provider, text) -> None:
    with pytest.raises(LanguageRefused, match="the program is not evident; name it"):
        await run_tests(provider, text, None, [{"input": [], "expected": 6}])


async def test_nothing_of_the_code_is_executed_to_find_its_language(provider) -> None:
    loud = "console.log('executed'); print('executed')"
    for language, source in CHECKS.items():
        call = FunctionCall(
            language=language,
            source=source,
            function_name="check",
            inputs=[[loud, None], [loud, "add"]],
        )
        outcome = await provider.call(call)
        assert not any(case.stdout for case in outcome.cases)
        assert [case.error for case in outcome.cases] == [None, None]


async def test_code_that_cannot_be_parsed_within_the_limits_is_the_submissions_fault() -> None:
    need_isolation()
    async with NamespaceProvider(Limits(memory_bytes=120 << 20)) as strict:
        with pytest.raises((LimitReached, LanguageRefused)):
            await read_code(strict, "add = [" + "[1]," * 2_000_000 + "]", function_name="add")


class Few:
    """A provider with the languages that it declares, as a JavaScript-only engine has one."""

    def __init__(self, inside: NamespaceProvider, languages: Sequence[str]) -> None:
        self.create, self.destroy, self.close = inside.create, inside.destroy, inside.close
        self.languages = languages
        self.calls: list[FunctionCall] = []
        self._inside = inside

    async def call(self, call: FunctionCall) -> FunctionOutcome:
        self.calls.append(call)
        return await self._inside.call(call)


async def test_a_provider_with_one_language_decides_by_itself(provider) -> None:
    script: Any = Few(provider, ["javascript"])
    cases = [{"input": [1, 2], "expected": 3}]
    # Not evident: it parses in both languages.
    [result] = await run_tests(script, "add = Math.max", "add", cases)
    assert (result.got, len(script.calls)) == (2, 1)
    for named in ("```python\ndef add(a, b): return a + b\n```", "def add(a, b): return a + b"):
        language = None if "```" in named else "python"
        with pytest.raises(ToolchainMissing, match="runs javascript, not python"):
            await run_tests(script, named, "add", cases, language=language)


class WithoutNode(Few):
    """A provider like a container that has Python only, and does not say so."""

    async def call(self, call: FunctionCall) -> FunctionOutcome:
        if call.language == "javascript":
            raise ToolchainMissing("the sandbox does not have 'node'")
        return await super().call(call)


async def test_a_missing_engine_is_no_reason_to_refuse_what_another_runs(provider) -> None:
    script: Any = WithoutNode(provider, [])
    assert (await read_code(script, "add = plus", function_name="add")).language == "python"
    with pytest.raises(ToolchainMissing):
        await read_code(script, "const add = (a, b) => a + b", function_name="add")


async def test_a_language_that_a_provider_does_not_have_is_no_candidate(provider) -> None:
    both: Any = Few(provider, ["javascript", "go"])
    with pytest.raises(LanguageRefused):
        await read_code(both, "def add(a, b): return a + b", function_name="add")
    assert (await read_code(both, "add = Math.max", function_name="add")).language == "javascript"
