"""Hostile commands: what `Sandbox.exec` may do, and a compiler, and real Node."""

# ruff: noqa: E501 - the lines of a submission stay whole

from integration.sandbox.attacks.attack import (
    Attack,
    both,
    either,
    last_and_only,
    last_line,
    leaves_nothing,
    output,
    over,
)


def sh(number, name, script, contained, **more):
    return Attack(
        number=number, name=name, language="command", source=script, contained=contained, **more
    )


def python(code):
    return f"python3 - <<'END'\nimport os, errno, socket, sys\n{code}\nEND\n"


COMPILED = both(lambda o: o["limit"] is None, lambda o: o["exit_code"] == 0)
REFUSED = either(lambda o: o["exit_code"] != 0, over("wall_time", "cpu_time", "memory", "output"))

COMMAND_ATTACKS = [
    sh(2, "sleep", "sleep 60", over("wall_time")),
    sh(1, "busy_loop", "while :; do :; done", over("wall_time", "cpu_time")),
    sh(9, "fork_bomb", "b() { b | b & }; b; sleep 60", either(over("wall_time"), REFUSED)),
    sh(
        10,
        "counts_forks",
        python(
            "import time\nn = 0\ntry:\n    for _ in range(500):\n        if os.fork() == 0:\n"
            "            time.sleep(60)\n        n += 1\nexcept OSError: pass\nprint(n)\n"
        ),
        output(lambda text: 0 < int(text) <= 64),
    ),
    sh(
        13,
        "many_files",
        python(
            "n = 0\ntry:\n    for n in range(20000): open(f'f{n}', 'w').close()\n"
            "except OSError as e: print(errno.errorcode[e.errno], n <= 8192)"
        ),
        last_line("ENOSPC True"),
    ),
    sh(
        12,
        "endless_file",
        "head -c 1000M /dev/zero > big 2>/dev/null; stat -c %s big",
        output(lambda t: int(t) <= 128 << 20),
    ),
    sh(15, "endless_output", "yes", over("output", "wall_time")),
    sh(16, "endless_errors", "yes >&2", over("output", "wall_time")),
    sh(
        32,
        "stops_its_children",
        "sh -c 'kill -STOP $$' & sleep 0.1; kill -STOP $$",
        over("wall_time"),
    ),
    sh(34, "reads_passwd", "cat /etc/passwd || echo none", last_line("none")),
    sh(34, "reads_host_file", "cat {file} || echo none", last_line("none")),
    sh(
        36,
        "writes_into_the_system",
        "for d in / /usr /usr/bin /dev /etc; do echo x > $d/x "
        "&& echo written; done 2>/dev/null; echo end",
        output(lambda t: t == "end\n"),
    ),
    sh(
        38,
        "environment",
        "env | sort | cut -d= -f1 | grep -vE '^(PATH|HOME|LANG|PWD|_|"
        "PYTHON[A-Z]*|SHLVL|OLDPWD)$'; echo end",
        output(lambda t: t == "end\n"),
    ),
    sh(
        39,
        "every_environment",
        "cat /proc/*/environ 2>/dev/null | grep -c {secret}; true",
        last_line("0"),
    ),
    sh(
        40,
        "tampers_with_process_1",
        python("try: open('/proc/1/mem', 'r+b'); print('open')\nexcept OSError: print('closed')"),
        last_line("closed"),
    ),
    sh(
        41,
        "lists_processes",
        "ls -d /proc/[0-9]* | wc -l; for i in 1 2 3 4 5 6 7 8; do sleep 60 > /dev/null 2>&1 & done",
        output(lambda t: int(t) <= 6),
    ),
    sh(
        47,
        "programs_run_inside",
        "uname > /desk/ran-here && test -s ran-here && echo ran",
        both(last_line("ran"), lambda o: not o["on_host"]),
    ),
    sh(
        48,
        "kills_everybody",
        "kill -9 -1; echo alive",
        either(last_line("alive"), lambda o: o["exit_code"] == 137),
    ),
    sh(48, "kills_process_1", "kill -9 1; sleep 0.1; echo alive", last_line("alive")),
    sh(
        49,
        "daemon",
        "setsid sh -c 'sleep 600.049' > /dev/null 2>&1 & echo left",
        both(last_line("left"), leaves_nothing),
        marker="600.049",
    ),
    sh(
        50,
        "keeps_the_pipe_open",
        "(sleep 600.050) & echo left",
        both(last_line("left"), leaves_nothing, lambda o: o["seconds"] < 5),
        marker="600.050",
    ),
    sh(
        54,
        "zombies",
        "python3 -c 'import os, time\nfor _ in range(20):\n    if os.fork() == 0: os._exit(0)\n"
        "time.sleep(600.054)' > /dev/null 2>&1 &\nsleep 0.5; echo left",
        both(last_line("left"), leaves_nothing),
        marker="600.054",
    ),
    sh(55, "setuid_file", "cp /usr/bin/id x && chmod 4755 x && ./x -u", last_line("65534")),
    sh(
        56,
        "makes_a_device",
        "mknod d b 8 0 2>/dev/null && echo made; mknod p p && echo pipe",
        output(lambda t: t == "pipe\n"),
    ),
    sh(58, "core_file", "ulimit -c; sh -c 'kill -SEGV $$'; ls", output(lambda t: t == "0\n")),
    sh(
        60,
        "spies_on_the_machine",
        "ls /sys 2>/dev/null; dmesg 2>/dev/null | head -1; "
        "cat /dev/kmsg 2>/dev/null | head -1; echo end",
        output(lambda t: t == "end\n"),
    ),
    sh(
        61,
        "connects_to_the_canary",
        python(
            "try: socket.create_connection(('127.0.0.1', {port}), 2); print('connected')\n"
            "except OSError: print('failed')"
        ),
        last_line("failed"),
    ),
    sh(
        62,
        "cloud_metadata",
        python(
            "try: socket.create_connection(('169.254.169.254', 80), 2); print('connected')\n"
            "except OSError as e: print(errno.errorcode[e.errno])"
        ),
        last_line("ENETUNREACH"),
    ),
    sh(
        64,
        "socket_families",
        python(
            "for family, kind in ((16, 3), (17, 3), (40, 1), (38, 5), (1, 1), (2, 1)):\n"
            "    try: socket.socket(family, kind); print('made', end=' ')\n"
            "    except OSError as e: print(errno.errorcode[e.errno], end=' ')"
        ),
        output(lambda t: t.split() == ["EPERM"] * 4 + ["made"] * 2),
    ),
    sh(
        67,
        "leaves_times_on_devices",
        "for d in null zero full random urandom tty; do touch /dev/$d && echo changed; done 2>/dev/null;"
        " chmod 666 /dev/zero 2>/dev/null && echo changed; echo end",
        last_and_only("end"),
    ),
    sh(
        67,
        "shared_terminals",
        "ls -d /dev/pts /dev/ptmx 2>/dev/null; echo end",
        last_and_only("end"),
    ),
    sh(
        67,
        "locks_a_shared_file",
        "flock -x /usr/bin/env sh -c 'flock -n /usr/bin/env echo free || echo locked'",
        last_line("free"),
    ),
    sh(
        67,
        "locks_a_device",
        python(
            "import fcntl\nfile = open('/dev/null', 'w')\nfcntl.lockf(file, fcntl.LOCK_EX)\n"
            "if os.fork() == 0:\n    try: fcntl.lockf(open('/dev/null', 'w'), fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
            "    except OSError: os._exit(1)\n    os._exit(0)\nprint('free' if os.wait()[1] == 0 else 'locked')"
        ),
        last_line("free"),
    ),
    sh(
        67,
        "watches_shared_files",
        python(
            "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nfd = libc.inotify_init1(0)\n"
            "print('refused' if fd < 0 else libc.inotify_add_watch(fd, b'/usr/bin', 0xfff))"
        ),
        last_line("refused"),
    ),
    sh(
        75,
        "namespaces",
        "unshare -Ur true 2>&1; unshare -n true 2>&1; mount -t tmpfs x /tmp 2>&1; echo end",
        output(lambda t: t.count("ermitted") == 2 and "superuser" in t),
    ),
    sh(
        72,
        "raw_calls",
        python(
            "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
            "for n in (101, 425, 321, 298, 250, 248, 323, 308, 165, 166, 155, 161, 29, 68, 310, 304,"
            " 322, 246, 434, 430, 303, 135, 154, 278, 275, 317, 103):\n"
            "    assert libc.syscall(n, 0, 0, 0, 0, 0) == -1 and ctypes.get_errno() == 1, n\n"
            "assert libc.syscall(435, 0, 0) == -1 and ctypes.get_errno() == 38\n"
            "print('all refused')"
        ),
        last_line("all refused"),
    ),
    sh(
        92,
        "own_rights",
        "grep -E '^(Cap|NoNew|Seccomp:)' /proc/self/status | "
        "awk '{print $2}' | sort -u | tr '\\n' ' '",
        output(lambda t: t == "0000000000000000 1 2 "),
    ),
    sh(
        93,
        "other_architecture",
        "cat > x.c <<'END'\n#include <unistd.h>\nint main() "
        '{ long r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(20)); return 0; }\nEND\n'
        "cc x.c -o x && ./x; echo $?",
        either(last_line("159", "139")),
    ),
    sh(
        95,
        "memfd_exec",
        python(
            "fd = os.memfd_create('x')\nos.write(fd, open('/usr/bin/id', 'rb').read())\n"
            "try: os.execve(fd, ['id', '-u'], {})\nexcept OSError: print('refused')"
        ),
        last_line("65534", "refused"),
    ),
    sh(
        44,
        "link_to_a_host_file",
        "ln -sf /etc/passwd result; ln -sf {file} other; echo made",
        both(last_line("made"), lambda o: o["read"] == ["UnsafeFile"] * 2),
    ),
    sh(31, "compile_devices", "echo '#include \"/dev/zero\"' > x.c; cc -c x.c", REFUSED),
    sh(
        31,
        "compile_standard_input",
        "echo '#include \"/dev/stdin\"' > x.c; yes | cc -c x.c",
        REFUSED,
    ),
    sh(
        31,
        "compile_huge_object",
        "echo 'int a[1 << 29] = {1}; int main() {}' > x.c; cc x.c",
        REFUSED,
    ),
    sh(
        31,
        "compile_templates",
        "echo 'template<int N> struct A { A<N+1> a; }; A<0> a;' > x.cpp; "
        "c++ -ftemplate-depth=1000000 -c x.cpp",
        REFUSED,
    ),
    sh(
        31,
        "compile_macros",
        "{ echo '#define A0 x x x x x x x x x x'; for i in 1 2 3 4 5 6 7 8 9; "
        'do p=$((i-1)); echo "#define A$i A$p A$p A$p A$p A$p A$p A$p A$p A$p A$p"; done; echo A9; }'
        " > x.c; cc -E x.c > /dev/null",
        REFUSED,
    ),
    sh(
        5,
        "memory",
        python("x = []\nwhile True: x.append(bytearray(10**7))"),
        either(over("memory"), lambda o: o["exit_code"] != 0),
    ),
]
