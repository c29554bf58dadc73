"""What every provider promises. One list of tests, run against each that is available."""

import asyncio
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from arena.errors import InvalidInput, NotFound
from arena.sandbox.cases import calc_score, run_tests
from arena.sandbox.daytona import DaytonaProvider
from arena.sandbox.docker import DockerProvider
from arena.sandbox.errors import (
    InvalidPath,
    LimitReached,
    SandboxDestroyed,
    ToolchainMissing,
    UnsafeFile,
)
from arena.sandbox.languages import add_languages, languages
from arena.sandbox.limits import Limit, Limits
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.sandbox.ports import TestCase
from integration.sandbox.daytona_server import KEY, DaytonaServer
from integration.sandbox.machine import REPOSITORY, need_isolation

LIMITS = Limits(wall_seconds=20.0, output_bytes=100_000, result_bytes=2_000_000)
ENGINE = "ARENA_TEST_DOCKER_SOCKET"


@pytest.fixture(params=["namespace", "daytona", "docker"])
async def provider(request: pytest.FixtureRequest) -> AsyncIterator[object]:
    if request.param == "docker":
        if ENGINE not in os.environ:
            pytest.skip(f"no container engine is named in {ENGINE}: use `make test-docker`")
        image = os.environ.get("ARENA_TEST_DOCKER_IMAGE", "arena-sandbox-test")
        async with DockerProvider(LIMITS, socket=os.environ[ENGINE], image=image) as docker:
            yield docker
        return
    need_isolation()
    if request.param == "namespace":
        async with NamespaceProvider(LIMITS) as namespace:
            yield namespace
        return
    inner = NamespaceProvider(Limits(wall_seconds=60.0, output_bytes=100_000_000))
    async with (
        DaytonaServer(inner) as server,
        DaytonaProvider(LIMITS, api_key=KEY, url=server.url) as daytona,
    ):
        yield daytona


async def test_a_command_reports_both_streams_and_its_exit_code(provider) -> None:
    sandbox = await provider.create()
    result = await sandbox.exec("echo out; echo err >&2; exit 3")
    assert (result.stdout, result.stderr, result.exit_code) == ("out\n", "err\n", 3)
    assert result.limit is None


async def test_files_come_back_as_they_were_written(provider) -> None:
    sandbox = await provider.create()
    texts = {"a.txt": "", "deep/er/b.txt": "größer\n", "-rf": "a name", "c d": "x" * 200_000}
    for path, text in texts.items():
        await sandbox.write_file(path, text)
    assert {path: await sandbox.read_file(path) for path in texts} == texts
    await sandbox.write_file("a.txt", b"new\xff")
    assert await sandbox.read_file("a.txt") == "new\\xff"
    assert (await sandbox.exec("cat deep/er/b.txt")).stdout == "größer\n"


async def test_a_missing_file_is_not_found(provider) -> None:
    sandbox = await provider.create()
    with pytest.raises(NotFound):
        await sandbox.read_file("nothing/here")


TRAPS = {
    "link": "ln -s /etc/hostname target",
    "dangling_link": "ln -s /nowhere target",
    "pipe": "mkfifo target",
    "folder": "mkdir target",
    "hard_link": "echo x > other; ln other target",
}


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS.keys())
async def test_only_regular_files_are_read_and_written(provider, trap) -> None:
    sandbox = await provider.create()
    assert (await sandbox.exec(trap)).exit_code == 0
    with pytest.raises(UnsafeFile):
        await sandbox.read_file("target")
    with pytest.raises(UnsafeFile):
        await sandbox.write_file("target", "x")
    await sandbox.write_file("beside", "x")


async def test_no_link_is_followed_on_the_way_to_a_file(provider) -> None:
    sandbox = await provider.create()
    await sandbox.exec("mkdir real; echo x > real/file; ln -s real by; ln -s / root")
    for path in ("by/file", "root/etc/hostname"):
        with pytest.raises(UnsafeFile):
            await sandbox.read_file(path)
        with pytest.raises(UnsafeFile):
            await sandbox.write_file(path, "x")
    assert await sandbox.read_file("real/file") == "x\n"


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "../x", "a/../../x", "a//b", ".", "a\0b", "a\nb", "\ud800", "x" * 256],
)
async def test_a_name_that_leaves_the_sandbox_is_refused(provider, path) -> None:
    sandbox = await provider.create()
    with pytest.raises(InvalidPath):
        await sandbox.read_file(path)
    with pytest.raises(InvalidPath):
        await sandbox.write_file(path, "x")


async def test_a_file_larger_than_the_limit_is_not_read(provider) -> None:
    sandbox = await provider.create()
    await sandbox.exec(f"head -c {LIMITS.result_bytes + 1} /dev/zero > large")
    with pytest.raises(LimitReached):
        await sandbox.read_file("large")


async def test_a_full_sandbox_is_a_limit(provider) -> None:
    sandbox = await provider.create()
    await sandbox.exec("for n in 1 2 3; do head -c 120000000 /dev/zero > $n; done 2> /dev/null")
    with pytest.raises(LimitReached, match="no room") as reached:
        await sandbox.write_file("more", b"x" * 200_000)
    assert reached.value.limit == "workspace_size"
    await sandbox.exec("rm 1")
    await sandbox.write_file("more", b"x")


async def test_a_command_that_takes_too_long_is_ended(provider) -> None:
    sandbox = await provider.create()
    result = await sandbox.exec("echo before; sleep 600", timeout=1.0)
    assert result.limit is Limit.WALL_TIME
    assert result.exit_code != 0
    assert (await sandbox.exec("echo after")).stdout == "after\n"


async def test_the_sandboxes_own_timeout_is_the_default(provider) -> None:
    sandbox = await provider.create(timeout=1.0)
    assert (await sandbox.exec("sleep 600")).limit is Limit.WALL_TIME


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 1e10, 0.0, -5.0])
async def test_an_invalid_timeout_is_refused(provider, seconds) -> None:
    sandbox = await provider.create()
    with pytest.raises(InvalidInput, match="timeout"):
        await sandbox.exec("true", timeout=seconds)
    with pytest.raises(InvalidInput, match="timeout"):
        await provider.create(timeout=seconds)
    assert (await sandbox.exec("echo after")).stdout == "after\n"


async def test_text_that_cannot_be_written_is_refused(provider) -> None:
    sandbox = await provider.create()
    with pytest.raises(InvalidInput, match="surrogate"):
        await sandbox.write_file("a", "x\ud800")
    for command in ("echo \ud800", "echo \0", "x" * 200_000):
        with pytest.raises(InvalidInput, match="command"):
            await sandbox.exec(command)
    assert (await sandbox.exec("echo after")).stdout == "after\n"


async def test_output_over_the_limit_is_truncated_and_the_limit_named(provider) -> None:
    sandbox = await provider.create()
    result = await sandbox.exec("yes | head -c 5000000")
    assert result.limit is Limit.OUTPUT
    assert len(result.stdout) <= LIMITS.output_bytes


async def test_invalid_utf8_in_the_output_is_escaped(provider) -> None:
    sandbox = await provider.create()
    assert (await sandbox.exec(r"printf '\377ok'")).stdout == "\\xffok"


async def test_there_is_no_network(provider) -> None:
    sandbox = await provider.create()
    script = (
        "import socket\n"
        "try: socket.create_connection(('192.0.2.1', 80), 3); print('connected')\n"
        "except OSError: print('refused')\n"
    )
    await sandbox.write_file("net.py", script)
    assert (await sandbox.exec("python3 net.py")).stdout == "refused\n"


async def test_sandboxes_do_not_see_each_other(provider) -> None:
    first, second = await provider.create(), await provider.create()
    await first.write_file("secret", "x")
    await first.exec("echo x > /tmp/secret")
    assert (await second.exec("ls . /tmp")).stdout.count("secret") == 0
    assert first.id != second.id


async def test_a_destroyed_sandbox_refuses_everything(provider) -> None:
    sandbox = await provider.create()
    await sandbox.destroy()
    await sandbox.destroy()
    await provider.destroy(sandbox.id)
    await provider.destroy("never was")
    with pytest.raises(SandboxDestroyed):
        await sandbox.exec("true")
    with pytest.raises(SandboxDestroyed):
        await sandbox.write_file("x", "x")
    with pytest.raises(SandboxDestroyed):
        await sandbox.read_file("x")


async def test_destroying_during_a_command_ends_the_command(provider) -> None:
    sandbox = await provider.create()
    running = asyncio.create_task(sandbox.exec("sleep 600"))
    await asyncio.sleep(0.5)
    await provider.destroy(sandbox.id)
    with pytest.raises(SandboxDestroyed):
        await asyncio.wait_for(running, 30)


MERGE = {
    "javascript": "function deepMerge(a, b) { const r = { ...a }; for (const k in b) r[k] = "
    "r[k] && typeof r[k] === 'object' && !Array.isArray(r[k]) ? deepMerge(r[k], b[k]) : b[k]; "
    "return r; }",
    "python": "def deepMerge(a, b):\n    r = dict(a)\n    for k, v in b.items():\n"
    "        r[k] = deepMerge(r[k], v) if isinstance(r.get(k), dict) else v\n    return r\n",
}
CASES = [
    TestCase(input=[{"a": 1}, {"b": 2}], expected={"a": 1, "b": 2}, desc="merge two flat objects"),
    TestCase(
        input=[{"a": {"x": 1}}, {"a": {"y": 2}}],
        expected={"a": {"x": 1, "y": 2}},
        desc="deep merge nested objects",
    ),
    TestCase(
        input=[{"a": [1, 2]}, {"a": [3]}],
        expected={"a": [3]},
        desc="arrays overwrite (not merge)",
    ),
]


@pytest.mark.parametrize("language", MERGE)
async def test_functions_are_judged_alike_everywhere(provider, language) -> None:
    results = await run_tests(provider, MERGE[language], "deepMerge", CASES, language=language)
    assert [result.passed for result in results] == [True, True, True]
    assert [result.got for result in results] == [case.expected for case in CASES]
    assert calc_score(results, 100) == 100


@pytest.mark.parametrize("language", MERGE)
async def test_a_failing_function_is_a_result_and_not_an_error(provider, language) -> None:
    source = {"python": "import os; os._exit(0)", "javascript": "process.exit(0)"}[language]
    results = await run_tests(provider, source, "f", CASES, language=language)
    assert [result.passed for result in results] == [False] * 3
    assert all("without a result" in (result.error or "") for result in results)


async def test_programs_are_judged_alike_everywhere(provider) -> None:
    source = "import json, sys\nprint(sum(json.load(sys.stdin)))"
    cases = [TestCase(input=[1, 2], expected=3), TestCase(input=[5], expected=6)]
    results = await run_tests(provider, source, None, cases, language="python")
    assert [(result.passed, result.got) for result in results] == [(True, 3), (False, 5)]


async def test_a_missing_toolchain_names_its_package(provider, tmp_path) -> None:
    file = tmp_path / "languages.toml"
    file.write_text(
        '[nolang]\nfile = "main"\nrun = "nolang main"\nneeds = ["nolang"]\npackage = "nolang-cli"\n'
    )
    add_languages(file)
    case = TestCase(input=[], expected=0)
    try:
        with pytest.raises(ToolchainMissing, match="nolang-cli"):
            await run_tests(provider, "print 0", None, [case], language="nolang")
    finally:
        languages.cache_clear()


BUILT_INTO_SH = {"echo", "exit", "for", "done", "printf", "true", "exec"}


def test_the_image_of_test_docker_has_every_program_that_these_tests_use() -> None:
    script = (REPOSITORY / "scripts/test-docker").read_text()
    [listed] = re.findall(r"programs=\(/usr/bin/\{(.*?)\}\)", script)
    commands = re.findall(r"""\.exec\(\s*[rf]?"([^"]+)""", Path(__file__).read_text())
    parts = [part.split() for one in commands for part in re.split(r"[;|&]+|\bdo\b", one)]
    used = {words[0] for words in parts if words and re.fullmatch(r"[a-z]\w*", words[0])}
    assert "rm" in used
    assert used - BUILT_INTO_SH <= set(listed.split(","))
