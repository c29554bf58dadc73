"""Limits over all processes of a sandbox together; only where the machine grants them."""

import pytest

from arena.sandbox.limits import Limit, Limits
from arena.sandbox.namespace.cgroups import find_cgroups
from arena.sandbox.namespace.provider import NamespaceProvider
from integration.sandbox.machine import need_isolation

MIB = 1 << 20


@pytest.fixture(autouse=True)
def groups() -> None:
    need_isolation()
    if find_cgroups() is None:
        pytest.skip("no control groups can be written here: run as root for these")


EATER = (
    "import os, time\n"
    "for _ in range({n}):\n"
    "    if os.fork() == 0:\n"
    "        kept = bytearray(b'x' * {size})\n"
    "        time.sleep(3); os._exit(0)\n"
    "codes = []\n"
    "while True:\n"
    "    try: codes.append(os.wait()[1])\n"
    "    except ChildProcessError: break\n"
    "print(sum(code == 9 for code in codes))\n"
)


async def test_many_processes_together_are_bounded() -> None:
    limits = Limits(wall_seconds=30.0, memory_bytes=128 * MIB, workspace_bytes=16 * MIB)
    async with NamespaceProvider(limits) as provider:
        sandbox = await provider.create()
        await sandbox.write_file("eat.py", EATER.format(n=10, size=50 * MIB))
        result = await sandbox.exec("python3 eat.py")
        # Ten times 50 MiB do not fit into 144: the kernel ended some of them, or the shell itself.
        killed = result.limit is Limit.MEMORY or int(result.stdout or 1) > 0
        assert killed, result
        assert (await sandbox.exec("echo well")).stdout == "well\n"


async def test_a_fork_bomb_meets_the_group() -> None:
    async with NamespaceProvider(Limits(wall_seconds=3.0, workspace_processes=20)) as provider:
        sandbox = await provider.create()
        count = (
            'python3 -c "import os,time\nn=0\ntry:\n  while True:\n'
            '    if os.fork()==0: time.sleep(9)\n    n+=1\nexcept OSError: print(n)"'
        )
        result = await sandbox.exec(count)
        assert 0 < int(result.stdout) <= 20
        assert (await sandbox.exec("echo well")).stdout == "well\n"


async def test_node_is_bounded_with_its_children() -> None:
    from arena.sandbox.ports import FunctionCall

    source = (
        "const { spawnSync } = require('child_process');\n"
        "function f() { const r = [0, 1, 2, 3].map(() => spawnSync(process.execPath, ['-e', "
        "'const a=[];for(let i=0;i<20;i++)a.push(Buffer.alloc(16<<20,1))']).status);"
        "return r.every((s) => s === 0); }"
    )
    call = FunctionCall(language="javascript", source=source, function_name="f", inputs=[[]])
    limits = Limits(wall_seconds=30.0, cpu_seconds=20, memory_bytes=200 * MIB)
    async with NamespaceProvider(limits) as provider:
        outcome = await provider.call(call)
    assert outcome.cases[0].value is not True
