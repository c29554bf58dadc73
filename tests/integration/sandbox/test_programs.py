"""Whole programs, in every language this machine can run."""

# ruff: noqa: E501 - the lines of a submission stay whole

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from arena.errors import NotFound
from arena.sandbox.cases import run_tests
from arena.sandbox.errors import ToolchainMissing
from arena.sandbox.languages import (
    BUILTIN,
    add_languages,
    language_of_file,
    languages,
    read_languages,
)
from arena.sandbox.limits import Limit, Limits
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.sandbox.ports import TestCase
from integration.sandbox.machine import need, need_isolation

pytestmark = pytest.mark.asyncio(loop_scope="module")
# Each prints the length of its input, as JSON text in a list, times two.
PROGRAMS = {
    "python": "import json, sys\nprint(json.dumps([len(json.load(sys.stdin)) * 2]))",
    "javascript": "import { readFileSync } from 'node:fs';\n"
    "console.log(JSON.stringify([JSON.parse(readFileSync(0, 'utf8')).length * 2]));",
    "c": '#include <stdio.h>\nint main(void) { int a, b, c; scanf("[%d, %d, %d]", &a, &b, &c); '
    'printf("[%d]\\n", 6); return 0; }',
    "cpp": "#include <iostream>\n#include <string>\nint main() { std::string s; std::getline("
    "std::cin, s); int n = 1; for (char c : s) n += c == ','; std::cout << '[' << n * 2 << ']'; }",
    "java": "import java.util.*;\npublic class Main { public static void main(String[] a) { "
    "String s = new Scanner(System.in).nextLine(); "
    'System.out.println("[" + s.split(",").length * 2 + "]"); } }',
    "shell": 'read line; echo "[6]"',
    "perl": "my $l = <STDIN>; my @p = split /,/, $l; print '[', 2 * @p, ']';",
    "ruby": "require 'json'; puts JSON.generate([JSON.parse(STDIN.read).length * 2])",
    "rust": "use std::io; fn main() { let mut s = String::new(); io::stdin().read_line(&mut s)"
    ".unwrap(); println!(\"[{}]\", s.split(',').count() * 2); }",
    "go": 'package main\nimport ("bufio"; "fmt"; "os"; "strings")\nfunc main() { r := bufio.NewReader('
    'os.Stdin); s, _ := r.ReadString(0); fmt.Printf("[%d]", 2*len(strings.Split(s, ","))) }',
    "typescript": "declare const require: (name: string) => any;\n"
    "const text: string = require('fs').readFileSync(0, 'utf8');\n"
    "console.log(JSON.stringify([JSON.parse(text).length * 2]));",
    "lua": "local s = io.read('a'); local _, n = s:gsub(',', ','); print('[' .. (n + 1) * 2 .. ']')",
    "php": "<?php echo json_encode([count(json_decode(stream_get_contents(STDIN))) * 2]);",
}
CASES = [TestCase(input=[1, 2, 3], expected=[6])]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncIterator[NamespaceProvider]:
    need_isolation()
    async with NamespaceProvider(Limits(wall_seconds=20.0, cpu_seconds=20)) as provider:
        yield provider


@pytest.mark.parametrize("named_by", ["field", "fence", "ending"])
@pytest.mark.parametrize("language", PROGRAMS)
async def test_a_program_reads_its_input_and_prints_its_result(
    provider, language, named_by
) -> None:
    text, field = PROGRAMS[language], language
    if named_by == "fence":
        text, field = f"Here it is:\n\n```{language}\n{text}\n```\n", None
    elif named_by == "ending":
        field = language_of_file(f"folder/solution{Path(languages()[language].file).suffix}")
    try:
        results = await run_tests(provider, text, None, CASES, language=field)
    except ToolchainMissing as missing:
        assert "install the package" in str(missing)
        need(False, str(missing))
    assert results[0].passed, results[0]
    assert results[0].engine == language


async def test_go_compiles_without_space_in_tmp(provider) -> None:
    """The cache of a new compiler is larger than /tmp: it lies in the work folder."""
    go = languages()["go"]
    assert go.compile is not None
    sandbox = await provider.create()
    found = await sandbox.exec("command -v go")
    need(found.exit_code == 0, "Go is not installed")
    await sandbox.exec("cat /dev/zero > /tmp/full")
    assert (await sandbox.exec("echo more > /tmp/more")).exit_code != 0
    await sandbox.write_file(go.file, PROGRAMS["go"])
    compiled = await sandbox.exec(go.compile, timeout=60.0)
    assert compiled.exit_code == 0, compiled
    assert (await sandbox.exec(f"echo '[1, 2, 3]' | {go.run}")).stdout.strip() == "[6]"
    listed = await sandbox.exec('ls -A /tmp; ls -A .go; test -n "$(ls -A .go/cache)" && echo used')
    assert listed.stdout.split() == ["full", "more", "cache", "tmp", "used"]
    await sandbox.destroy()


async def test_every_built_in_language_is_tried() -> None:
    assert set(PROGRAMS) == set(read_languages(BUILTIN))


async def test_code_that_does_not_compile_fails_every_case(provider) -> None:
    cases = CASES * 2
    results = await run_tests(provider, "int main( {", None, cases, language="c")
    assert [result.passed for result in results] == [False, False]
    assert all("does not compile" in str(result.error) for result in results)
    assert "main.c" in str(results[0].error)


async def test_every_case_is_a_process_of_its_own(provider) -> None:
    source = "import os\nprint(os.path.exists('/desk/left'))\n"
    results = await run_tests(
        provider, source.replace("print", "x = ") + "print('true' if x else 'false')", None,
        [TestCase(input=[], expected=False)] * 2, language="python",
    )  # fmt: skip
    assert [result.passed for result in results] == [True, True]


FAILURES = {
    "import sys; sys.exit(4)": "exit code 4",
    "print('not json')": "not one JSON document",
    "print('1 2')": "not one JSON document",
    "pass": "not one JSON document",
    "print('NaN')": "not one JSON document",
    "print('[' * 100000)": "not one JSON document",
}


@pytest.mark.parametrize(("source", "reason"), FAILURES.items())
async def test_anything_but_one_document_and_exit_code_0_is_a_failure(
    provider, source, reason
) -> None:
    results = await run_tests(provider, source, None, CASES, language="python")
    assert not results[0].passed
    assert reason in str(results[0].error)


async def test_a_limit_is_named() -> None:
    need_isolation()
    async with NamespaceProvider(Limits(wall_seconds=1.0)) as strict:
        results = await run_tests(strict, "sleep 60", None, CASES, language="shell")
    assert results[0].limit is Limit.WALL_TIME
    assert "wall_time" in str(results[0].error)


HUNGRY = {
    "python": ("python", "x = bytearray(4 << 30)"),
    "python, bit by bit": ("python", "x = []\nwhile True: x.append(bytearray(b'x' * (1 << 20)))"),
    "node": ("javascript", "const a = []; while (true) a.push(new Array(10000).fill(1.5));"),
    "node, outside its heap": ("javascript", "const a = []; while (true) a.push(Buffer.alloc(1 << 24, 1));"),
    "c": ("c", "#include <stdlib.h>\n#include <string.h>\n"
          "int main(void) { for (;;) memset(malloc(1 << 20), 1, 1 << 20); }"),
    "c++": ("cpp", "#include <vector>\nint main() { std::vector<char> v(4L << 30, 1); return v[9]; }"),
    "perl": ("perl", "my @a; while (1) { push @a, 'x' x (1 << 20) }"),
}  # fmt: skip


@pytest.mark.parametrize(("language", "source"), HUNGRY.values(), ids=HUNGRY.keys())
async def test_running_out_of_memory_is_named(provider, language, source) -> None:
    results = await run_tests(provider, source, None, CASES, language=language)
    assert results[0].limit is Limit.MEMORY, results[0]
    assert "over the limit: memory" in str(results[0].error)


async def test_another_failure_is_not_reported_as_out_of_memory(provider) -> None:
    crash = "int main(void) { *(volatile int *)0 = 1; }"
    results = await run_tests(provider, crash, None, CASES, language="c")
    assert results[0].limit is None
    caught = "try: x = bytearray(4 << 30)\nexcept MemoryError: print([6])"
    results = await run_tests(provider, caught, None, CASES, language="python")
    assert results[0].passed


async def test_a_custom_language(provider, tmp_path) -> None:
    file = tmp_path / "languages.toml"
    file.write_text('[awk]\nfile = "main.awk"\nrun = "awk -f main.awk"\nneeds = ["awk"]\n')
    add_languages(file)
    source = '{ print "[" 2 * split($0, p, ",") "]" }'
    try:
        results = await run_tests(provider, source, None, CASES, language="awk")
    finally:
        languages.cache_clear()
    assert results[0].passed, results[0]


async def test_an_unknown_language_is_not_found(provider) -> None:
    with pytest.raises(NotFound, match="language"):
        await run_tests(provider, "x", None, CASES, language="cobol85")
