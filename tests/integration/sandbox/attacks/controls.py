"""How to tell that an attack succeeds without the walls.

An attack without an entry is run as it is, and must then not be contained. The others need a
gentler source, or another sign of success; each kind has its reason beside it.
"""

# ruff: noqa: E501 - the lines of a submission stay whole

from dataclasses import dataclass, replace

from integration.sandbox.attacks.attack import Attack, Check, Outcome, gives, value


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    seen: Check | None = None
    """The check that it succeeded; by default, that it is not contained."""
    outlives: bool = False
    """It succeeds by still running after its time limit."""
    lowered: str | None = None
    """A source that needs only a little more than a limit allows, or attacks a decoy."""
    runs: int = 1
    """How often it is run; the last time counts."""
    cases: int = 1
    """How many cases one process has to answer; the last one counts."""
    alone: bool = False
    """It kills or looks for other processes, so it gets a provider of its own."""


def control_of(attack: Attack) -> Control:
    return CONTROLS.get(attack.id, Control())


def succeeded(attack: Attack, outcome: Outcome) -> bool:
    """Whether only a wall stands between this attack and success."""
    control = control_of(attack)
    if is_refused_to_everybody(attack, outcome):
        return False
    if control.outlives:
        return bool(outcome["outlived"])
    if control.seen is not None:
        return control.seen(outcome)
    return not outcome["outlived"] and not outcome["broken"] and not attack.contained(outcome)


def breaks(outcome: Outcome) -> bool:
    """The zygote, which others need, did not survive."""
    return bool(outcome["broken"])


# Only a time limit ends these: without one they still run after it would have expired.
CLOCKS = [
    "001-python-busy_loop",
    "002-python-sleep",
    "003-python-ignores_signals",
    "020-python-regex_backtracking",
    "021-python-huge_power",
    "021-python-huge_int_from_text",
    "032-python-stops_itself",
    "024-javascript-busy_loop",
    "025-javascript-endless_microtasks",
    "030-javascript-regex_backtracking",
    "030-javascript-huge_power",
    "029-javascript-timer_left_running",
    "029-javascript-timer_writes_later",
    "002-command-sleep",
    "001-command-busy_loop",
    "032-command-stops_its_children",
    "031-command-compile_macros",
]

CONTROLS = {name: Control(outlives=True) for name in CLOCKS}

MIB = 1 << 20


def _python(lines: str, seen: Check, **more) -> Control:
    return Control(lowered=f"def f(c):\n    {lines}\n", seen=seen, **more)


def _javascript(body: str, seen: Check) -> Control:
    return Control(lowered=f"function f(c) {{ {body} }}", seen=seen)


def _command(script: str, seen: Check) -> Control:
    return Control(lowered=script, seen=seen)


def prints(*lines: str) -> Check:
    return lambda outcome: str(outcome["stdout"]).split()[-1:] == list(lines)


def ends_well(outcome: Outcome) -> bool:
    """A command that ended by itself with exit code 0."""
    return outcome["exit_code"] == 0 and outcome["limit"] is None


# Each needs a little more than its limit: enough to show, and little enough for the yard.
CONTROLS |= {
    "004-python-huge_allocation": _python("return len(bytearray(500 << 20))", gives(500 * MIB)),
    "005-python-growing_list": _python(
        "x = []\n    while len(x) < 500: x.append('a' * 10**6)\n    return len(x)", gives(500)
    ),
    "007-python-many_processes_for_memory": _python(
        "return [attempt(os.fork) for _ in range(3)]",
        value(lambda v: isinstance(v, list) and "EPERM" not in v),
    ),
    "008-python-fills_every_tmpfs": _python(
        "return [open(p + '/fill', 'wb').write(b'x' * (4 << 20)) for p in ('/desk', '/tmp', '/dev/shm')]",
        gives([4 * MIB] * 3),
    ),
    "008-python-fills_pipe_buffers": _python(
        "pipes = [os.pipe() for _ in range(300)]\n"
        "    return sum(os.write(w, b'x' * 65536) for r, w in pipes)",
        value(lambda v: isinstance(v, float) and v > 16 * MIB),
    ),
    "009-python-fork_bomb": _python(
        "for _ in range(4): os.fork()\n    return 'forked'", gives("forked")
    ),
    "010-python-counts_forks": _python(
        "n = 0\n    for _ in range(50):\n        if os.fork() == 0: os._exit(0)\n        n += 1\n    return n",
        gives(50),
    ),
    "012-python-endless_file": _python(
        "return attempt(lambda: open('big', 'wb').write(b'x' * (5 << 20)))", gives(5 * MIB)
    ),
    "013-python-many_files": _python(
        "for n in range(300): open(f'f{n}', 'wb').close()\n    return n", gives(299)
    ),
    "014-python-folders_for_ever": _python(
        "for n in range(300): os.mkdir(f'd{n}')\n    return n", gives(299)
    ),
    "015-python-endless_output": _python(
        "for _ in range(32): os.write(1, b'x' * 65536)\n    return 'written'", gives("written")
    ),
    "016-python-endless_errors": _python(
        "for _ in range(32): os.write(2, b'x' * 65536)\n    return 'written'", gives("written")
    ),
    "017-python-huge_result": _python("return 'x' * (33 << 20)", gives(f"{33 * MIB} characters")),
    "017-python-endless_result_line": _python(
        "for _ in range(540): os.write(4, b'[' * 65536)\n    os.write(4, b'\\n')\n    return 'after'",
        gives("after"),
    ),
    "018-python-result_grows_when_escaped": Control(seen=gives(f"{8 * MIB} characters")),
    "019-python-infinite_recursion": _python(
        "sys.setrecursionlimit(10**9)\n    def g(n): return g(n - 1) if n else 'deep'\n"
        "    return g(5_000_000)",
        gives("deep"),
    ),
    "022-python-long_text": _python("return len('a' * (450 << 20))", gives(450 * MIB)),
    "022-python-long_list": _python("return len([0] * (60 << 20))", gives(60 * MIB)),
    "022-python-zip_bomb": _python(
        "import zlib\n    bomb = zlib.compress(b'0' * (8 << 20))\n"
        "    return sum(map(len, [zlib.decompress(bomb) for _ in range(60)]))",
        gives(480 * MIB),
    ),
    "023-python-many_descriptors": _python(
        "return len([os.pipe() for _ in range(100)])", gives(100)
    ),
    "026-javascript-growing_array": _javascript(
        "const a = []; while (a.length < 2e6) a.push({ a: [1, 2, 3] }); return a.length;",
        gives(2_000_000),
    ),
    "027-javascript-buffers": _javascript(
        "const a = []; for (let i = 0; i < 8; i++) a.push(Buffer.alloc(64 << 20, 1)); return a.length;",
        gives(8),
    ),
    "028-javascript-wasm_and_shared_memory": _javascript(
        "const kept = []; for (let i = 0; i < 7; i++) {"
        " kept.push(new WebAssembly.Memory({ initial: 1024, maximum: 1024 }));"
        " kept.push(new SharedArrayBuffer(64 << 20)); } return kept.length;",
        gives(14),
    ),
    "028-javascript-many_workers": Control(
        lowered="const { Worker } = require('node:worker_threads'); let n = 0; function f(c) {"
        " for (let i = 0; i < 70; i++) { const w = new Worker('setInterval(()=>{},9)', { eval: true });"
        " w.on('online', () => { if (++n === 70) { console.log('seventy'); process.exit(0); } }); } }",
        seen=prints("seventy"),
    ),
    "030-javascript-joined_text": _javascript(
        "return 'x'.repeat(2 ** 25).split('').length;", gives(2**25)
    ),
    "017-javascript-huge_result": _javascript(
        "return 'x'.repeat(33 << 20);", gives(f"{33 * MIB} characters")
    ),
    "015-javascript-endless_output": _javascript(
        "let n = 0; while (n < 2e6) { const done = attempt(() => require('fs').writeSync(1, 'x'.repeat(65536)));"
        " if (done > 0) n += done; } return 'written';",
        gives("written"),
    ),
    "009-command-fork_bomb": _command(
        "for i in $(seq 80); do sleep 1 & done; echo forked", prints("forked")
    ),
    "010-command-counts_forks": _command(
        "python3 -c 'import os, time\nfor n in range(80):\n    if os.fork() == 0: time.sleep(2); os._exit(0)\nprint(n)'",
        prints("79"),
    ),
    "013-command-many_files": _command(
        "mkdir many; cd many; seq 9000 | xargs touch; ls | wc -l; rm -r /desk/many", prints("9000")
    ),
    "012-command-endless_file": _command(
        "head -c 130M /dev/zero > big; stat -c %s big; rm big", prints(str(130 * MIB))
    ),
    "015-command-endless_output": _command("yes | head -c 2M", ends_well),
    "016-command-endless_errors": _command("yes | head -c 2M >&2", ends_well),
    "031-command-compile_devices": _command(
        "head -c 140M /dev/zero | tr '\\0' ' ' > z.h; echo '#include \"z.h\"' > x.c; cc -c x.c;"
        " e=$?; rm z.h; exit $e",
        ends_well,
    ),
    "031-command-compile_standard_input": _command(
        "echo '#include \"/dev/stdin\"' > y.c; head -c 450M /dev/zero | tr '\\0' ' ' | cc -c y.c",
        ends_well,
    ),
    "031-command-compile_huge_object": _command(
        "echo 'int a[36 << 20] = {1};' > z.c; cc -c z.c; e=$?; rm z.o; exit $e", ends_well
    ),
    "031-command-compile_templates": Control(
        lowered="echo 'constexpr long f() { long s = 0; for (long i = 0; i < 4000000000; i++) s += i;"
        " return s; } static_assert(f());' > t.cpp;"
        " c++ -fconstexpr-loop-limit=2147483647 -fconstexpr-ops-limit=9000000000000000000 -c t.cpp",
        outlives=True,
    ),
    "005-command-memory": _command(
        "python3 -c 'print(len([bytearray(10**7) for _ in range(50)]))'", prints("50")
    ),
}

# These kill the zygote and all its other children.
KILLERS = [
    "048-python-kills_everybody",
    "048-javascript-kills_everybody",
    "048-command-kills_everybody",
    "048-command-kills_process_1",
]
CONTROLS |= {name: Control(seen=breaks, alone=True) for name in KILLERS}
# No signal kills process 1; without walls the first process of a sandbox is not process 1.
CONTROLS["048-command-kills_process_1"] = replace(
    CONTROLS["048-command-kills_process_1"], lowered="kill -9 $PPID; sleep 0.1; echo alive"
)

CONTROLS |= {
    # The second run finds what the first one left.
    "051-python-leaves_files_behind": Control(runs=2),
    "051-javascript-leaves_files_behind": Control(runs=2),
    "041-command-lists_processes": Control(runs=2, alone=True),
    # A process that runs two cases is changed by the first.
    "053-python-patches_builtins": Control(cases=2),
    "053-python-patches_builtins_again": Control(cases=2),
    "054-command-zombies": Control(seen=lambda outcome: outcome["zombies"] == 20),
    # The kernel refuses disk devices here, but allows this one to anybody.
    "056-python-makes_a_device": _python(
        "return attempt(lambda: os.mknod('/desk/device', 0o20600, 0))", gives("done")
    ),
    "056-command-makes_a_device": _command(
        "mknod device-of-a-command c 0 0 && echo made", prints("made")
    ),
    # A terminal can be opened.
    "059-python-terminal": _python("return attempt(lambda: os.openpty() and None)", gives("done")),
    # The forged output is a verdict that is believed, not a value that is compared.
    "098-python-answers_by_itself": Control(
        lowered="os.write(4, b'[0,\"passed\",true,0]\\n'); os._exit(0)\n", seen=gives(True)
    ),
}

# What no yard can allow: its root is unprivileged on the host, and a kernel may be built without a
# system call. The error that the control returns is the reason; no other is accepted.
REFUSED_TO_EVERYBODY = {
    "060-python-syslog": "EPERM",  # only the host's root may read the log
    "088-python-kexec_load": "EPERM ENOSYS",  # the same for kexec, where the kernel has it
    "093-python-x32_number": "ENOSYS",  # a kernel without the x32 ABI
}


def is_refused_to_everybody(attack: Attack, outcome: Outcome) -> bool:
    """Whether this attack is on the list, and the control shows why."""
    answers = REFUSED_TO_EVERYBODY.get(attack.id, "").split()
    return outcome["value"] in answers
