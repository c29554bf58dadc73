"""The lifecycle of the provider: what it survives, refuses and leaves behind."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.errors import InvalidInput
from arena.sandbox.cases import run_tests
from arena.sandbox.errors import SandboxDestroyed, SandboxFailed, SandboxUnavailable
from arena.sandbox.limits import Limits
from arena.sandbox.namespace import box, launch
from arena.sandbox.namespace import zygote as zygotes
from arena.sandbox.namespace.box import Box, Kind
from arena.sandbox.namespace.cgroups import PREFIX, find_cgroups
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.sandbox.ports import FunctionCall, TestCase
from integration.sandbox.machine import need, need_isolation

HONEST = FunctionCall(
    language="python", source="def f(x): return x + 1", function_name="f", inputs=[[1]]
)
HONEST_JAVASCRIPT = FunctionCall(
    language="javascript", source="const f = (x) => x + 1", function_name="f", inputs=[[1]]
)
SLEEPER = FunctionCall(
    language="python", source="import time\ndef f(): time.sleep(60)", function_name="f", inputs=[[]]
)


@pytest.fixture(autouse=True)
def isolation() -> None:
    need_isolation()


async def answer(provider: NamespaceProvider) -> object:
    return (await provider.call(HONEST)).cases[0].value


def descendants(root: int) -> set[int]:
    """Every process below `root`, as this machine sees it."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
                if stat[0] != "Z":
                    parents[int(entry.name)] = int(stat[1])
    found: set[int] = set()
    wave = {root}
    while wave:
        wave = {pid for pid, parent in parents.items() if parent in wave}
        found |= wave
    return found


async def until(condition, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("which", ["pid", "reaper_pid", "zygote_pid"])
async def test_a_killed_zygote_is_replaced_unnoticed(which) -> None:
    """Whichever of bubblewrap, the reaper and the zygote is killed, the other two exit too."""
    async with NamespaceProvider(Limits(wall_seconds=20.0)) as provider:
        assert await answer(provider) == 2
        zygote = provider._fleet(Kind.PYTHON).zygotes[0]
        family = {zygote.pid, zygote.reaper_pid, zygote.zygote_pid}
        assert len(family) == 3
        os.kill(getattr(zygote, which), signal.SIGKILL)
        assert await answer(provider) == 2
        await until(lambda: not any(map(alive, family)))


async def test_a_run_in_flight_is_tried_again_when_its_zygote_dies() -> None:
    source = "import time\ndef f(x):\n    time.sleep(1)\n    return x"
    call = FunctionCall(language="python", source=source, function_name="f", inputs=[[5]])
    async with NamespaceProvider(Limits(wall_seconds=20.0)) as provider:
        running = asyncio.create_task(provider.call(call))
        members = provider._fleet(Kind.PYTHON)
        await until(lambda: any(zygote.busy for zygote in members.zygotes))
        for zygote in members.zygotes:
            os.kill(zygote.pid, signal.SIGKILL)
        assert (await running).cases[0].value == 5


async def test_old_zygotes_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zygotes, "MAX_SPAWNS", 3)
    async with NamespaceProvider() as provider:
        pids = set()
        for _ in range(12):
            assert await answer(provider) == 2
            pids |= {zygote.pid for zygote in provider._fleet(Kind.PYTHON).zygotes}
        assert len(pids) >= 3


async def test_closing_ends_every_process_and_group() -> None:
    before = descendants(os.getpid())
    provider = NamespaceProvider(Limits(wall_seconds=60.0))
    await provider.call(HONEST)
    await (await provider._node_pool()).fill()
    sandbox = await provider.create()
    sleeping = [
        asyncio.create_task(provider.call(SLEEPER)),
        asyncio.create_task(sandbox.exec("sleep 60 & sleep 60")),
    ]
    await until(lambda: len(descendants(os.getpid()) - before) >= 8)
    family = descendants(os.getpid()) - before
    await provider.close()
    await provider.close()
    await asyncio.gather(*sleeping, return_exceptions=True)
    # By pid, because an orphan is no longer our descendant.
    await until(lambda: not any(map(alive, family)))
    await until(lambda: not own_groups())


def own_groups() -> list[Path]:
    groups = find_cgroups()
    places = set(groups.controllers.values()) if groups is not None else ()
    return [group for place in places for group in place.glob(f"{PREFIX}{os.getpid()}-*")]


async def test_first_calls_at_once_share_what_they_start() -> None:
    async with NamespaceProvider() as provider:
        outcomes = await asyncio.gather(*[provider.call(HONEST_JAVASCRIPT) for _ in range(6)])
        assert [outcome.cases[0].value for outcome in outcomes] == [2] * 6
    assert own_groups() == []


ORPHANS = """
import asyncio, ctypes, os, signal
from pathlib import Path
from arena.sandbox.ports import FunctionCall
from arena.sandbox.namespace import zygote
from arena.sandbox.namespace.provider import NamespaceProvider
zygote.EXIT_SECONDS = 0.2
# Whatever loses its parent comes to us, and we reap nobody: like a container's first process.
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
async def main():
    provider = NamespaceProvider()
    call = FunctionCall(language='python', source='def f(): pass', function_name='f', inputs=[[]])
    await provider.call(call)
    [one] = next(iter(provider._fleets.values())).zygotes
    # It no longer notices that its supervisor has left.
    os.kill(one.reaper_pid, signal.SIGSTOP)
    os.kill(one.zygote_pid, signal.SIGSTOP)
    await provider.close()
    own = str(os.getpid())
    print(sum(
        stat.read_text().rpartition(')')[2].split()[1] == own
        for stat in Path('/proc').glob('[0-9]*/stat')
    ))
asyncio.run(main())
"""


async def test_a_sandbox_that_does_not_exit_by_itself_leaves_no_orphan() -> None:
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", ORPHANS], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "0\n", done.stdout + done.stderr[-2000:]


async def test_a_closed_provider_refuses_work() -> None:
    provider = NamespaceProvider()
    await provider.close()
    with pytest.raises(SandboxDestroyed):
        await provider.call(HONEST)
    with pytest.raises(SandboxDestroyed):
        await provider.create()


async def test_a_cancelled_call_ends_its_child() -> None:
    async with NamespaceProvider(Limits(wall_seconds=60.0)) as provider:
        await provider.call(HONEST)
        idle = descendants(os.getpid())
        running = asyncio.create_task(provider.call(SLEEPER))
        await until(lambda: bool(descendants(os.getpid()) - idle))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await until(lambda: not descendants(os.getpid()) - idle)
        assert await answer(provider) == 2


async def test_a_cancelled_command_destroys_its_sandbox() -> None:
    async with NamespaceProvider(Limits(wall_seconds=60.0)) as provider:
        sandbox = await provider.create()
        running = asyncio.create_task(sandbox.exec("sleep 60"))
        await asyncio.sleep(0.2)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        with pytest.raises(SandboxDestroyed):
            await sandbox.exec("true")


KILLED = """
import asyncio, sys
from arena.sandbox.limits import Limits
from arena.sandbox.ports import FunctionCall
from arena.sandbox.namespace.provider import NamespaceProvider
async def main():
    provider = NamespaceProvider(Limits(wall_seconds=600.0, cpu_seconds=600))
    sandbox = await provider.create()
    source = "import time\\ndef f(): time.sleep(600)"
    call = FunctionCall(language="python", source=source, function_name="f", inputs=[[]])
    tasks = [asyncio.create_task(provider.call(call)),
             asyncio.create_task(sandbox.exec("sleep 600 & setsid sleep 600 & sleep 600"))]
    await asyncio.sleep(1)
    print("ready", flush=True)
    await asyncio.gather(*tasks)
asyncio.run(main())
"""


async def test_killing_the_supervisor_kills_everything() -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        assert await asyncio.to_thread(process.stdout.readline) == b"ready\n"
        family = descendants(process.pid)
        assert len(family) >= 6
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    await until(lambda: not any(map(alive, family)))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_a_hundred_sandboxes_at_once() -> None:
    async with NamespaceProvider(Limits(wall_seconds=60.0)) as provider:

        async def one(number: int) -> str:
            sandbox = await provider.create()
            try:
                return (await sandbox.exec(f"echo {number}")).stdout
            finally:
                await provider.destroy(sandbox.id)

        assert await asyncio.gather(*map(one, range(100))) == [f"{n}\n" for n in range(100)]


async def test_images_are_refused_with_a_hint() -> None:
    async with NamespaceProvider() as provider:
        with pytest.raises(InvalidInput, match="docker"):
            await provider.create(image="python:3.11")


async def test_without_bubblewrap_nothing_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    async with NamespaceProvider() as provider:
        for language, source in (("python", "def f(): pass"), ("javascript", "function f() {}")):
            with pytest.raises(SandboxUnavailable, match="install the package bubblewrap") as error:
                await run_tests(
                    provider, source, "f", [TestCase(input=[], expected=None)], language=language
                )
            assert error.value.report[0].name == "bubblewrap"
        with pytest.raises(SandboxUnavailable):
            await provider.create()


WITHOUT_NAMESPACES = """
import asyncio, json
from arena.sandbox.cases import run_tests
from arena.sandbox.errors import SandboxUnavailable
from arena.sandbox.ports import TestCase
from arena.sandbox.namespace.probe import probe
from arena.sandbox.namespace.provider import NamespaceProvider

async def look():
    steps = await probe()
    print(json.dumps([s.name for s in steps if s.required and not s.works]))
    cases = [TestCase(input=[], expected=1)]
    async with NamespaceProvider() as provider:
        try: await run_tests(provider, "def f(): return 1", "f", cases, language="python")
        except SandboxUnavailable: print("refused")

asyncio.run(look())
"""


async def test_without_user_namespaces_the_probe_says_so() -> None:
    need(os.geteuid() == 0 or find_own_python(), "the interpreter is not visible in a sandbox")
    packages = [path for path in sys.path if path.startswith("/")]
    line = ["bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/"]
    line += ["--setenv", "PYTHONPATH", ":".join(packages), "--", sys.executable, "-c"]
    done = await asyncio.to_thread(
        subprocess.run, [*line, WITHOUT_NAMESPACES], capture_output=True, text=True, timeout=120
    )
    assert "python functions" in done.stdout, done.stdout + done.stderr[-2000:]
    assert "refused" in done.stdout, done.stdout + done.stderr[-2000:]


def find_own_python() -> bool:
    return os.access(sys.executable, os.X_OK)


async def test_a_missing_filter_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from arena.sandbox.namespace import filters

    filters.compiled.cache_clear()
    monkeypatch.setitem(sys.modules, "pyseccomp", None)
    async with NamespaceProvider() as provider:
        with pytest.raises(SandboxUnavailable, match="libseccomp2"):
            await provider.call(HONEST)
    monkeypatch.undo()
    filters.compiled.cache_clear()


async def test_limits_need_never_be_raised() -> None:
    """Root without CAP_SYS_RESOURCE, or anybody: a lower hard limit outside changes nothing."""
    script = (
        "import asyncio, resource\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        "from arena.sandbox.ports import FunctionCall\n"
        "from arena.sandbox.namespace.provider import NamespaceProvider\n"
        "async def main():\n"
        "    async with NamespaceProvider() as p:\n"
        "        call = FunctionCall(language='python', source='def f(): return 7',"
        " function_name='f', inputs=[[]])\n"
        "        print((await p.call(call)).cases[0].value)\n"
        "asyncio.run(main())\n"
    )
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "7\n", done.stderr[-2000:]


async def test_groups_of_killed_supervisors_are_swept_up() -> None:
    groups = find_cgroups()
    if groups is None:
        pytest.skip("no control groups can be written here: run as root for this")
    place = groups.controllers["memory"]
    dead = subprocess.Popen(["true"])
    dead.wait()
    stale = place / f"{PREFIX}{dead.pid}-stale"
    stale.mkdir()
    find_cgroups.cache_clear()
    assert find_cgroups() is not None
    assert not stale.exists()


async def test_a_cancelled_start_leaves_no_process() -> None:
    """Cancelled at many moments while bubblewrap starts."""
    before = bubblewrap_pids()
    for delay in [n / 4000 for n in range(40)]:
        provider = NamespaceProvider()
        starting = asyncio.create_task(provider.call(HONEST))
        await asyncio.sleep(delay)
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        await provider.close()
    await until(lambda: not bubblewrap_pids() - before)


def bubblewrap_pids() -> set[int]:
    """Every bubblewrap process that is ours or an orphan, and alive."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                line = (entry / "cmdline").read_bytes()
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                ours = parent in (1, os.getpid()) and alive(int(entry.name))
                if ours and b"bwrap" in line.split(b"\0")[0]:
                    found.add(int(entry.name))
    return found


async def test_a_sandbox_starts_whatever_numbers_the_open_files_have() -> None:
    """Descriptors keep the supervisor's numbers, and number 69 once broke the start."""
    for base in range(60, 72):
        held = [os.dup(0)]
        while held[-1] < base:
            held.append(os.dup(0))
        async with NamespaceProvider() as provider:
            assert await answer(provider) == 2
        for number in held:
            os.close(number)


async def test_a_sandbox_that_cannot_fork_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine is busy, not unable to isolate: a later retry may work."""
    lower = "import resource; resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))"
    code = box.BOOTSTRAP.replace("main = module.main", f"main = module.main\n{lower}")
    monkeypatch.setattr(box, "BOOTSTRAP", code)
    async with NamespaceProvider() as provider:
        with pytest.raises(SandboxFailed, match="clone: Resource temporarily unavailable"):
            await provider.call(HONEST)


async def test_a_sandbox_that_is_killed_while_it_starts_is_started_once_more() -> None:
    async with NamespaceProvider() as provider:
        members = provider._fleet(Kind.WORKSPACE)
        pids_started: list[int] = []

        def launch_twice(box: Box) -> launch.Started:
            started = launch.launch(box)
            pids_started.append(started.process.pid)
            if len(pids_started) == 1:
                os.killpg(started.process.pid, signal.SIGKILL)
            return started

        members.launch = launch_twice
        sandbox = await provider.create()
        assert (await sandbox.exec("echo up")).stdout == "up\n"
    assert len(pids_started) == 2
