"""The speed of the sandbox compared with the alternatives, on this machine.

Only the ratios are meaningful. Each short round measures all candidates one after the other,
starting with a different one. A ratio is computed within a round; the report shows the median of
the ratios and their interquartile range. Other load on the machine lowers the figures and raises
the ratios, so an idle machine gives the most conservative ratios.
"""

import argparse
import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from arena.sandbox.grading import GraderCall, run_grader
from arena.sandbox.limits import Limits, cores, submissions_at_once
from arena.sandbox.namespace.box import Kind
from arena.sandbox.namespace.children import Child
from arena.sandbox.namespace.launch import DEDICATED_ID, find_node, find_python
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.sandbox.ports import FunctionCall
from arena.sandbox.submission import Code

PYTHON = "def f(a, b):\n    return {'sum': a + b}\n"
JAVASCRIPT = "function f(a, b) { return { sum: a + b }; }"
GRADERS = {
    "python": (PYTHON, "assert f(1, 2) == {'sum': 3}"),
    "javascript": (JAVASCRIPT, "assert.deepStrictEqual(f(1, 2), { sum: 3 })"),
}
SETTLE_SECONDS = 0.2
HARNESS = Path(__file__).parents[1] / "src/arena/sandbox/harness"
# The floor: the same work in a clone of the same warm interpreter, without isolation, supervisor,
# pipes or limits.
BARE = """
import sys, types, os, time, gc, importlib
for name, path in ("arena", None), ("arena.sandbox", None), ("arena.sandbox.harness", {harness!r}):
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = [path] if path else []
from arena.sandbox.harness import zygote, system, encode, python_calls
for name in zygote.PRELOADED.split(): importlib.import_module(name)
table = system.Table(0)
table.seal()
gc.collect(); gc.freeze(); gc.disable()
count, end = 0, time.monotonic() + {seconds}
while time.monotonic() < end:
    pid = table.clone()
    if pid == 0:
        function = python_calls.find_function({source!r}, "f")
        encode.encode(function(*encode.load("[1,2]")))
        os._exit(0)
    os.waitpid(pid, 0)
    count += 1
print(count)
"""


def processes_per_second(command: list[str], seconds: float, user: int | None = None) -> float:
    """Start processes on every core and wait for them, as `user` if given."""
    identity = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    counts = [0] * cores()
    end = time.monotonic() + seconds

    def work(number: int) -> None:
        while time.monotonic() < end:
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True, **identity)
            counts[number] += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(cores())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


def bare_clones_per_second(seconds: float) -> float:
    code = BARE.format(harness=str(HARNESS), seconds=seconds, source=PYTHON)
    command = [find_python(), "-I", "-S", "-B", "-c", code]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(cores())]
    return sum(int(process.communicate()[0]) for process in running) / seconds


def bubblewrapped(command: list[str]) -> list[str]:
    """The bwrap command that isolates a single process to the same degree."""
    line = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    line += ["--clearenv", "--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]
    for name in ("bin", "lib", "lib64"):
        line += ["--symlink", f"usr/{name}", f"/{name}"]
    line += ["--tmpfs", "/tmp", "--tmpfs", "/desk", "--chdir", "/desk", "--remount-ro", "/"]
    return [*line, "--", *command]


async def calls_per_second(
    provider: NamespaceProvider, call: FunctionCall, seconds: float
) -> float:
    """Complete submissions: request, new child process, result, decoded value."""
    end = time.monotonic() + seconds
    count = 0

    async def work() -> None:
        nonlocal count
        while time.monotonic() < end:
            outcome = await provider.call(call)
            assert outcome.cases[0].value == {"sum": 3}, outcome
            count += 1

    started = time.monotonic()
    await asyncio.gather(*(work() for _ in range(submissions_at_once())))
    return count / (time.monotonic() - started)


async def latency_ms(act: Callable[[], object], count: int) -> float:
    times: list[float] = []
    for _ in range(count):
        started = time.perf_counter()
        result = act()
        if asyncio.iscoroutine(result):
            await result
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


async def warm_node_latency_ms(call: FunctionCall, count: int) -> float:
    """The latency with a warm process; the pool is refilled between calls."""
    times: list[float] = []
    async with NamespaceProvider(warm_node=4) as provider:
        await provider.call(call)
        for _ in range(count):
            await (await provider._node_pool()).fill()
            await asyncio.sleep(0.25)
            started = time.perf_counter()
            outcome = await provider.call(call)
            times.append((time.perf_counter() - started) * 1000)
            assert outcome.cases[0].value == {"sum": 3}, outcome
    return statistics.median(times)


def memory_kib(pid: int) -> tuple[int, int]:
    """Resident and proportional set size (RSS and PSS)."""
    sizes = {"Rss": 0, "Pss": 0}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name in sizes:
            sizes[name] = int(rest.split()[0])
    return sizes["Rss"], sizes["Pss"]


def children_of(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


async def print_memory() -> None:
    async with NamespaceProvider(Limits(), warm_node=4) as provider:
        await (await provider._node_pool()).fill()
        await provider._fleet(Kind.PYTHON).zygote()
        await asyncio.sleep(1)
        for kind in (Kind.PYTHON, Kind.NODE):
            zygote = provider._fleet(kind).zygotes[0]
            waiting: list[int] = []
            children = []
            if kind is not Kind.NODE:
                for _ in range(8):
                    reader, writer = os.pipe()
                    children.append(Child.spawn(zygote, provider.limits, reader, None))
                    os.close(reader)
                    waiting.append(writer)
                await asyncio.sleep(0.5)
            try:
                resident, proportional = memory_kib(zygote.zygote_pid)
                reaper = memory_kib(zygote.reaper_pid)[1]
                family = children_of(zygote.reaper_pid)
                idle = [memory_kib(pid) for pid in family if pid != zygote.zygote_pid]
            except PermissionError:
                print(f"  {kind.value}: only root can read its memory")
                idle = []
            if idle:
                each = statistics.mean(pss for _, pss in idle)
                print(
                    f"  {kind.value:8} zygote {resident / 1024:6.1f} MiB RSS, "
                    f"{proportional / 1024:5.1f} MiB PSS, "
                    f"its reaper {reaper / 1024:4.1f} MiB; idle child {each / 1024:5.2f} MiB"
                )
            for writer in waiting:
                os.close(writer)
            for child in children:
                await child.exited
                child.pipes.finish()


async def graded(provider: NamespaceProvider, language: str) -> None:
    """One grading: a script calls the submitted code, which runs in another process."""
    source, script = GRADERS[language]
    code = Code(source=source, language=language)
    call = GraderCall(
        language=language, script=script, submission={}, code=code, entry_points=["f"]
    )
    grade = await run_grader(provider, call)
    assert grade.score == 100, grade


def call_of(language: str, source: str) -> FunctionCall:
    return FunctionCall(language=language, source=source, function_name="f", inputs=[[1, 2]])


async def measure(rounds: int, seconds: float) -> dict[str, list[float]]:
    """Every candidate's figure, round by round."""
    python = str(find_python())
    node = str(find_node())
    raw_python = [python, "-I", "-S", "-c", f"{PYTHON}\nprint(f(1, 2))"]
    raw_node = [node, "-e", f"{JAVASCRIPT}; console.log(f(1, 2))"]
    # A box of the same strength belongs to a user of its own as well.
    nobody = DEDICATED_ID if os.geteuid() == 0 else None
    samples: dict[str, list[float]] = {}
    async with NamespaceProvider() as isolated:
        candidates: dict[str, Callable[[], Awaitable[float]]] = {
            "python process": lambda: asyncio.to_thread(processes_per_second, raw_python, seconds),
            "bwrap python": lambda: asyncio.to_thread(
                processes_per_second, bubblewrapped(raw_python), seconds, nobody
            ),
            "isolated python": lambda: calls_per_second(
                isolated, call_of("python", PYTHON), seconds
            ),
            "bare clone": lambda: asyncio.to_thread(bare_clones_per_second, seconds),
            "node process": lambda: asyncio.to_thread(processes_per_second, raw_node, seconds),
            "isolated node": lambda: calls_per_second(
                isolated, call_of("javascript", JAVASCRIPT), seconds
            ),
            "node process ms": lambda: latency_ms(
                lambda: subprocess.run(raw_node, stdout=subprocess.DEVNULL, check=True), 3
            ),
            "warm node ms": lambda: warm_node_latency_ms(call_of("javascript", JAVASCRIPT), 3),
            "python grader ms": lambda: latency_ms(lambda: graded(isolated, "python"), 5),
            "node grader ms": lambda: latency_ms(lambda: graded(isolated, "javascript"), 5),
            "python ms": lambda: latency_ms(lambda: isolated.call(call_of("python", PYTHON)), 10),
        }
        for name in ("isolated python", "isolated node"):
            await candidates[name]()  # starts the zygotes
        names = list(candidates)
        for number in range(rounds):
            first = number % len(names)
            for name in names[first:] + names[:first]:
                samples.setdefault(name, []).append(await candidates[name]())
                # The kernel destroys namespaces later, which would slow the next candidate.
                await asyncio.sleep(SETTLE_SECONDS)
    return samples


def verdict(
    name: str, ours: list[float], theirs: list[float], goal: float, at_most: bool = False
) -> None:
    """Print the median of the rounds' ratios, their interquartile range, and the goal."""
    ratios = sorted(one / other for one, other in zip(ours, theirs, strict=True))
    ratio = statistics.median(ratios)
    low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
    good = ratio <= goal if at_most else ratio >= goal
    sign = "at most" if at_most else "at least"
    print(
        f"  {name:46} {ratio:6.2f} ({low:5.2f} to {high:5.2f})"
        f"   goal: {sign} {goal:<4} {'reached' if good else 'MISSED'}"
    )


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=0.5, help="per candidate and round")
    parser.add_argument("--first", action="store_true", help="real-time priority (root only)")
    options = parser.parse_args()
    if options.first:
        # For all candidates alike: keeps other processes of a shared machine out of the figures.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    if shutil.which("bwrap") is None or find_node() is None:
        sys.exit("bubblewrap and Node are needed: apt-get install bubblewrap nodejs")
    found = await measure(options.rounds, options.seconds)
    load = os.getloadavg()[0]
    print(f"{cores()} cores, load {load:.1f}, median of {options.rounds} rounds")
    for name, values in found.items():
        unit = "" if name.endswith("ms") else " per second"
        print(f"  {name:18} {statistics.median(values):8.1f}{unit}")
    python, node = found["isolated python"], found["isolated node"]
    print("Python submissions (median of the rounds' ratios, interquartile range)")
    verdict("against raw python3 -I -S -c processes", python, found["python process"], 2.5)
    verdict("against bwrap python3 processes", python, found["bwrap python"], 8)
    verdict("against bare clones of a warm interpreter", python, found["bare clone"], 0.4)
    print("JavaScript submissions")
    verdict("against raw node -e processes", node, found["node process"], 0.7)
    hit, raw = found["warm node ms"], found["node process ms"]
    verdict("latency of a warm Node process against raw node", hit, raw, 0.1, at_most=True)
    print("Memory")
    await print_memory()


if __name__ == "__main__":
    asyncio.run(main())
