"""Hostile Python functions. Each is called with a description of the canaries on the host."""

# ruff: noqa: E501 - the lines of a submission stay whole

from integration.sandbox.attacks.attack import Attack, both, either, fails, gives, over, value

TIME = over("wall_time", "cpu_time")
# On a busy machine gradual growth may hit the time limit first.
GROWTH = over("memory", "wall_time", "cpu_time")
# So may a long result or a long output.
LONG_RESULT = over("result_size", "wall_time")
LONG_OUTPUT = over("output", "wall_time")
DENIED = ("EPERM", "EACCES", "EROFS", "ENOENT")


def py(number, name, source, contained, **more):
    return Attack(
        number=number, name=name, language="python", source=source, contained=contained, **more
    )


def returning(number, name, expression, contained, **more):
    """An attack that is one expression."""
    return py(number, name, f"def f(c):\n    return {expression}\n", contained, **more)


EXHAUSTION = [
    py(1, "busy_loop", "def f(c):\n    while True: pass\n", TIME),
    py(2, "sleep", "import time\ndef f(c): time.sleep(60)\n", over("wall_time")),
    py(
        3,
        "ignores_signals",
        "import signal\ndef f(c):\n"
        "    for s in (15, 2, 14, 24, 1): signal.signal(s, signal.SIG_IGN)\n    while True: pass\n",
        TIME,
    ),
    returning(4, "huge_allocation", "bytearray(4 << 30)", over("memory")),
    py(
        5,
        "growing_list",
        "def f(c):\n    x = []\n    while True: x.append('a' * 10**6)\n",
        GROWTH,
    ),
    py(
        6,
        "anonymous_mappings",
        "import mmap\ndef f(c):\n    kept = []\n    def grab():\n"
        "        while len(kept) < 100: kept.append(mmap.mmap(-1, 64 << 20))\n"
        "    return [attempt(grab), len(kept)]\n",
        value(lambda v: v[0] in ("ENOMEM", "MemoryError") and v[1] < 10),
    ),
    py(
        7,
        "many_processes_for_memory",
        "def f(c):\n    return [attempt(os.fork) for _ in range(24)]\n",
        gives(["EPERM"] * 24),
    ),
    py(
        8,
        "fills_every_tmpfs",
        "def f(c):\n    def fill(folder):\n        total = 0\n        for n in range(40):\n"
        "            with open(f'{folder}/{len(folder)}-{n}', 'wb') as file:\n"
        "                while True:\n"
        "                    try: total += file.write(b'x' * 65536); file.flush()\n"
        "                    except OSError as e:\n"
        "                        if e.errno == errno.ENOSPC: return total\n"
        "                        break\n        return total\n"
        "    return [fill(folder) for folder in ('/desk', '/tmp', '/dev/shm')]\n",
        value(lambda v: 0 < sum(v) <= 9 << 20),
    ),
    py(
        8,
        "fills_pipe_buffers",
        "def f(c):\n    total = 0\n    pipes = []\n    def fill():\n        nonlocal total\n"
        "        while True:\n            r, w = os.pipe(); pipes.append((r, w))\n"
        "            os.set_blocking(w, False)\n            try:\n"
        "                while True: total += os.write(w, b'x' * 65536)\n"
        "            except BlockingIOError: pass\n    return [attempt(fill), total]\n",
        value(lambda v: v[0] == "EMFILE" and v[1] <= 16 << 20),
    ),
    py(9, "fork_bomb", "def f(c):\n    while True: os.fork()\n", fails("PermissionError")),
    py(
        10,
        "counts_forks",
        "def f(c):\n    return sum(attempt(os.fork) != 'EPERM' for _ in range(50))\n",
        gives(0),
    ),
    py(
        11,
        "many_threads",
        "import threading, time\ndef f(c):\n    n = 0\n    try:\n        for _ in range(300):\n"
        "            threading.Thread(target=time.sleep, args=(30,), daemon=True).start(); n += 1\n"
        "    except RuntimeError: pass\n    return n\n",
        value(lambda n: 0 < n <= 24),
    ),
    py(
        12,
        "endless_file",
        "def f(c):\n    def write():\n        with open('big', 'wb') as file:\n"
        "            while True: file.write(b'x' * 2**20)\n    return attempt(write)\n",
        gives("EFBIG", "ENOSPC"),
    ),
    py(
        13,
        "many_files",
        "def f(c):\n    n = 0\n    def write():\n        nonlocal n\n        for n in range(5000):\n"
        "            open(f'f{n}', 'wb').write(b'x' * 100_000)\n    return [attempt(write), n]\n",
        value(lambda v: v[0] == "ENOSPC" and v[1] < 256),
    ),
    py(
        14,
        "folders_for_ever",
        "def f(c):\n    n = 0\n    def make():\n        nonlocal n\n"
        "        while True: os.mkdir(f'd{n}'); n += 1\n    return [attempt(make), n]\n",
        value(lambda v: v[0] == "ENOSPC" and v[1] <= 256),
    ),
    py(
        15,
        "endless_output",
        "def f(c):\n    while True: os.write(1, b'x' * 65536)\n",
        LONG_OUTPUT,
    ),
    py(
        16,
        "endless_errors",
        "def f(c):\n    while True: os.write(2, b'x' * 65536)\n",
        LONG_OUTPUT,
    ),
    returning(17, "huge_result", "'x' * (60 << 20)", LONG_RESULT),
    py(
        17,
        "endless_result_line",
        "def f(c):\n    while True: os.write(4, b'[' * 65536)\n",
        LONG_RESULT,
    ),
    returning(18, "result_grows_when_escaped", r"'\0' * (8 << 20)", LONG_RESULT),
    py(
        19,
        "infinite_recursion",
        "def f(c):\n    sys.setrecursionlimit(10**9)\n    def g(n): return g(n + 1)\n"
        "    return g(0)\n",
        either(fails("SIGSEGV|RecursionError|SystemError"), GROWTH),
    ),
    returning(
        20, "regex_backtracking", "bool(__import__('re').match(r'(a+)+$', 'a' * 40 + 'b'))", TIME
    ),
    returning(21, "huge_power", "(10 ** 10 ** 8) % 7", GROWTH),
    py(
        21,
        "huge_int_from_text",
        "def f(c):\n    sys.set_int_max_str_digits(0)\n    return int('9' * 10**7) % 7\n",
        TIME,
    ),
    returning(22, "long_text", "len('a' * 2**31)", over("memory")),
    returning(22, "long_list", "len([0] * 2**33)", over("memory")),
    py(
        22,
        "zip_bomb",
        "import zlib\ndef f(c):\n    bomb = zlib.compress(b'0' * (8 << 20))\n"
        "    data = b''\n    while True: data += zlib.decompress(bomb)\n",
        GROWTH,
    ),
    py(
        23,
        "many_descriptors",
        "def f(c):\n    kept = []\n    def take():\n        while True: kept.extend(os.pipe())\n"
        "    return [attempt(take), len(kept)]\n",
        value(lambda v: v[0] == "EMFILE" and v[1] < 32),
    ),
    py(
        32,
        "stops_itself",
        "def f(c):\n    os.kill(os.getpid(), 19)\n    import time\n    time.sleep(60)\n",
        over("wall_time"),
    ),
]

FILES_AND_PROCESSES = [
    returning(
        34,
        "reads_passwd",
        "attempt(lambda: open('/etc/passwd').read()[:4])",
        gives("ENOENT"),
    ),
    returning(
        34,
        "reads_host_file",
        "attempt(lambda: open(c['file']).read())",
        gives("ENOENT"),
    ),
    returning(
        35,
        "lists_homes",
        "[attempt(lambda: os.listdir(p)) for p in ('/root', '/home', '/var', c['folder'])]",
        gives(["ENOENT"] * 4),
    ),
    returning(
        36,
        "writes_into_the_system",
        "[attempt(lambda: open(p + '/x', 'w').close()) for p in ('/', '/usr/lib', '/dev', '/etc')]",
        value(lambda v: all(x in DENIED for x in v)),
    ),
    returning(
        37,
        "looks_for_the_harness",
        "sorted(p for p in os.listdir('/') if 'harness' in p or p.endswith('.so'))",
        gives([]),
    ),
    py(
        37,
        "imports_the_harness",
        "def f(c):\n    try: import arena.sandbox.harness.zygote as z; return 'found'\n"
        "    except ImportError: return 'gone'\n",
        gives("gone"),
    ),
    returning(38, "dumps_the_environment", "[k for k in os.environ if k != 'LC_CTYPE']", gives([])),
    returning(
        39,
        "environment_of_process_1",
        "[c['secret'] in attempt(lambda: open(f'/proc/{p}/environ').read()) "
        "for p in (1, 'self', os.getppid())]",
        gives([False] * 3),
    ),
    returning(
        39,
        "every_environment",
        "any(c['secret'] in str(attempt(lambda: open(f'/proc/{p}/environ').read())) "
        "for p in os.listdir('/proc') if p.isdigit())",
        gives(False),
    ),
    returning(
        40,
        "memory_of_process_1",
        "attempt(lambda: open('/proc/1/mem', 'r+b').close())",
        value(lambda v: v in DENIED),
    ),
    returning(
        41,
        "lists_processes",
        "[p for p in os.listdir('/proc') if p.isdigit()]",
        gives(["1"]),
    ),
    returning(
        42,
        "writes_to_proc",
        "[attempt(lambda: open(p, 'w').write('x')) for p in ('/proc/sysrq-trigger', "
        "'/proc/sys/kernel/core_pattern', '/proc/self/exe', '/proc/sys/kernel/hostname')]",
        value(lambda v: all(x in (*DENIED, "ETXTBSY") for x in v)),
    ),
    returning(
        43,
        "open_descriptors",
        "[n for n in range(64) if attempt(lambda: os.fstat(n) and n) == n]",
        gives([0, 1, 2, 4]),
    ),
    returning(
        47,
        "starts_a_program",
        "attempt(lambda: os.execv(sys.executable, ['python']))",
        gives("EPERM"),
    ),
    py(
        47,
        "subprocess",
        "import subprocess\ndef f(c):\n"
        "    return attempt(lambda: subprocess.check_output([sys.executable, '-c', 'print(1)']))\n",
        gives("EPERM"),
    ),
    py(
        48,
        "kills_everybody",
        "def f(c):\n    attempt(lambda: os.kill(-1, 9)); return 'alive'\n",
        either(gives("alive"), fails("SIGKILL")),
    ),
    returning(
        48,
        "kills_its_parent",
        "[attempt(lambda: os.kill(os.getppid(), 9)), os.getppid()]",
        value(lambda v: v[1] == 0),
    ),
    py(
        49,
        "daemon",
        "def f(c):\n    def daemon():\n        if os.fork() == 0:\n            os.setsid()\n"
        "            os.execv('/bin/sleep', ['sleep', '600'])\n    return attempt(daemon)\n",
        gives("EPERM"),
    ),
    returning(
        51,
        "leaves_files_behind",
        "[os.listdir(p) for p in ('/tmp', '/dev/shm', '/desk')] + "
        "[attempt(lambda: open(p + '/left', 'w').close()) for p in ('/tmp', '/dev/shm', '/desk')]",
        gives([[], [], [], "done", "done", "done"]),
    ),
    returning(
        51,
        "leaves_files_behind_again",
        "[os.listdir(p) for p in ('/tmp', '/dev/shm', '/desk')] + "
        "[attempt(lambda: open(p + '/left', 'w').close()) for p in ('/tmp', '/dev/shm', '/desk')]",
        gives([[], [], [], "done", "done", "done"]),
    ),
    py(
        53,
        "patches_builtins",
        "import builtins, json, random\ndef f(c):\n    seen = (json.dumps is print, len([1]))\n"
        "    builtins.len = lambda x: 7\n    json.dumps = print\n    random.random = lambda: 4\n"
        "    return list(seen)\n",
        gives([False, 1]),
    ),
    py(
        53,
        "patches_builtins_again",
        "import builtins, json, random\ndef f(c):\n    seen = (json.dumps is print, len([1]))\n"
        "    builtins.len = lambda x: 7\n    json.dumps = print\n    random.random = lambda: 4\n"
        "    return list(seen)\n",
        gives([False, 1]),
    ),
    py(
        55,
        "setuid_file",
        "def f(c):\n    open('/tmp/x', 'w').close(); attempt(lambda: os.chmod('/tmp/x', 0o4755))\n"
        "    lines = [l.split() for l in open('/proc/self/mountinfo')]\n"
        "    return [set(('nosuid', 'nodev', 'noexec')) <= set(l[5].split(','))"
        " for l in lines if l[4] in ('/tmp', '/desk', '/dev/shm')]\n",
        value(lambda v: len(v) >= 1 and all(v)),
    ),
    returning(
        56, "makes_a_device", "attempt(lambda: os.mknod('/tmp/d', 0o60600, 0x800))", gives("EPERM")
    ),
    py(
        57,
        "raises_its_limits",
        "import resource\ndef f(c):\n    out = []\n    for k in (resource.RLIMIT_AS,"
        " resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_CPU):\n"
        "        try: resource.setrlimit(k, (-1, -1)); out.append('raised')\n"
        "        except (ValueError, OSError, PermissionError): out.append('denied')\n"
        "    return out\n",
        gives(["denied"] * 4),
    ),
    py(58, "segfault", "import ctypes\ndef f(c): ctypes.string_at(0)\n", fails("SIGSEGV")),
    py(58, "abort", "def f(c): os.abort()\n", fails("SIGABRT|SIGSEGV")),
    returning(58, "no_core_file", "__import__('resource').getrlimit(4)[0]", gives(0)),
    py(
        59,
        "terminal",
        "import fcntl\ndef f(c):\n"
        "    return [attempt(lambda: open('/dev/tty').close()),"
        " attempt(lambda: fcntl.ioctl(0, 0x5412, b'x'))]\n",
        value(lambda v: v[0] in ("ENXIO", "ENOENT", "EPERM") and v[1] in ("EPERM", "ENOTTY")),
    ),
    returning(
        60,
        "spies_on_the_machine",
        "[attempt(lambda: os.listdir('/sys')), c['folder'] in open('/proc/self/mountinfo').read(),"
        " attempt(lambda: open('/proc/kmsg').read(1)), attempt(lambda: open('/dev/kmsg').close())]",
        value(lambda v: v[0] == "ENOENT" and v[1] is False and v[2] in DENIED and v[3] in DENIED),
    ),
]

NETWORK = [
    py(
        61,
        "connects_to_the_canary",
        "import socket\ndef f(c):\n"
        "    return attempt(lambda: socket.create_connection(('127.0.0.1', c['port']), 2).close())\n",
        gives("EPERM"),
    ),
    py(
        62,
        "cloud_metadata",
        "import socket\ndef f(c):\n"
        "    return attempt(lambda: socket.create_connection(('169.254.169.254', 80), 2).close())\n",
        gives("EPERM"),
    ),
    py(
        63,
        "name_lookup",
        "import socket\ndef f(c):\n    try: return socket.getaddrinfo('example.org', 80)\n"
        "    except OSError: return 'failed'\n",
        gives("failed"),
    ),
    py(
        64,
        "socket_families",
        "import socket\ndef f(c):\n"
        "    return [attempt(lambda: socket.socket(n, t).close()) for n, t in"
        " ((1, 1), (2, 1), (10, 2), (16, 3), (17, 3), (40, 1), (38, 5))]\n",
        gives(["EPERM"] * 7),
    ),
    py(
        64,
        "abstract_socket",
        "import socket\ndef f(c):\n"
        "    return attempt(lambda: socket.socket(1, 1).bind('\\0arena-canary'))\n",
        gives("EPERM"),
    ),
]

FORGERY = [
    py(97, "leaves_at_import", "os._exit(0)\n", fails("without a result")),
    py(97, "exits_in_the_call", "def f(c): os._exit(0)\n", fails("without a result")),
    py(97, "system_exit", "def f(c): sys.exit(0)\n", fails("SystemExit")),
    py(
        98,
        "answers_by_itself",
        'os.write(4, b\'[0,"value","guess",0]\\n\'); os._exit(0)\n',
        gives("guess"),
    ),
    py(
        99,
        "two_frames",
        "def f(c):\n    os.write(4, b'[0,\"value\",1,0]\\n'); return 2\n",
        fails("protocol violation"),
    ),
    py(
        99,
        "half_a_frame",
        "os.write(4, b'[0,\"value\"'); os._exit(0)\n",
        fails("protocol violation"),
    ),
    py(
        99,
        "another_case",
        "os.write(4, b'[3,\"value\",1,0]\\n'); os._exit(0)\n",
        fails("protocol violation"),
    ),
    py(99, "not_json", "os.write(4, b'\\xff\\xfe\\n'); os._exit(0)\n", fails("protocol violation")),
    py(
        99,
        "unknown_kind",
        "os.write(4, b'[0,\"passed\",true,0]\\n'); os._exit(0)\n",
        fails("protocol violation"),
    ),
    py(
        100,
        "equal_to_everything",
        "class E:\n    def __eq__(s, o): return True\ndef f(c): return E()\n",
        fails("not a JSON value"),
    ),
    py(
        101,
        "lying_subclasses",
        "class I(int):\n    def __repr__(s): return '999'\n    def __int__(s): return 999\n"
        "    def __index__(s): return 999\n"
        "class S(str):\n    def __str__(s): return 'lie'\n    def __len__(s): return 99\n"
        "class L(list):\n    def __iter__(s): return iter([9, 9])\n    def __len__(s): return 2\n"
        "class D(dict):\n    def items(s): return [('lie', 1)]\n    def keys(s): return ['lie']\n"
        "def f(c): return [I(1), S('true'), L([1]), D(a=1)]\n",
        gives([1, "true", [1], {"a": 1}]),
    ),
    py(
        102,
        "patches_the_encoder",
        "import json, json.encoder\njson.dumps = lambda *a, **k: '\"x\"'\n"
        "json.encoder.encode_basestring_ascii = lambda s: '\"x\"'\n"
        "sys.modules['json'] = None\ndef f(c): return 'honest'\n",
        gives("honest"),
    ),
    py(
        103,
        "searches_memory_for_the_answer",
        "import gc\ndef f(c):\n    needle = 'expected-' + c['needle']\n    found = []\n"
        "    for o in gc.get_objects():\n"
        "        if isinstance(o, dict) and needle in o.values(): found.append(1)\n"
        "    frame = sys._getframe()\n    while frame:\n"
        "        if any(v == needle for k, v in frame.f_locals.items() if k != 'needle'):"
        " found.append(2)\n        frame = frame.f_back\n    return found\n",
        gives([]),
    ),
    py(
        105,
        "writes_after_the_end",
        "import atexit, threading, time\n"
        'def late():\n    time.sleep(0.2); os.write(4, b\'[0,"value","late",0]\\n\')\n'
        "atexit.register(late)\n"
        "def f(c):\n    threading.Thread(target=late, daemon=False).start(); return 'first'\n",
        gives("first"),
    ),
    py(
        106,
        "prints_the_protocol",
        "def f(c):\n    print('[0,\"value\",\"printed\",0]'); return 'returned'\n",
        gives("returned"),
    ),
    py(
        107,
        "patches_time",
        "import time\ntime.monotonic = time.perf_counter = time.time = lambda: 0\n"
        "def f(c):\n    time.sleep(0.3); return 1\n",
        both(gives(1), lambda outcome: outcome["duration_ms"] >= 250),
    ),
]

DATA = [
    returning(
        114,
        "not_a_number",
        "[float('nan'), float('inf'), -float('inf')]",
        value(lambda v: [str(number) for number in v] == ["nan", "inf", "-inf"]),
    ),
    py(
        115,
        "deep_nesting",
        "def f(c):\n    x = []\n    for _ in range(100000): x = [x]\n    return x\n",
        fails("nested"),
    ),
    py(
        115,
        "deep_nesting_in_raw_bytes",
        "os.write(4, b'[0,\"value\",' + b'[' * 100000 + b']' * 100000 + b',0]\\n'); os._exit(0)\n",
        fails("protocol violation"),
    ),
    py(
        116,
        "contains_itself",
        "def f(c):\n    x = []\n    x.append(x)\n    return x\n",
        fails("nested"),
    ),
    py(
        117,
        "lone_surrogate",
        "def f(c):\n    print('\\ud800'); return '\\ud800'\n",
        lambda o: o["error"] is None and o["stdout"] == "\\ud800\n",
    ),
    returning(118, "huge_integer", "10 ** 5000", fails("digits")),
    returning(118, "large_integer", "10 ** 4000", gives(10**4000)),
    py(
        118,
        "huge_integer_in_raw_bytes",
        "os.write(4, b'[0,\"value\",' + b'9' * 9999 + b',0]\\n'); os._exit(0)\n",
        fails("protocol violation"),
    ),
    returning(119, "keys_that_collide", "{1: 'a', '1': 'b'}", fails("two keys")),
    returning(119, "key_that_is_a_tuple", "{(1, 2): 3}", fails("key")),
    returning(119, "tag_in_the_result", "{'$arena': 'nan'}", gives({"$arena": "nan"})),
    py(
        120,
        "strange_output",
        "def f(c):\n    os.write(1, b'\\xff\\x00\\r\\n\\x1b[31m'); return 1\n",
        both(gives(1), lambda o: o["stdout"] == "\\xff\x00\r\n\x1b[31m"),
    ),
    py(120, "long_line", "def f(c):\n    print('x' * (10 << 20)); return 1\n", LONG_OUTPUT),
    py(121, "nul_in_the_source", "def f(c): return 1\n\0", fails("null|source")),
    py(121, "unfinished_source", "def f(c:\n", fails("SyntaxError")),
    py(
        121,
        "nested_parentheses",
        "x = " + "(" * 100000 + ")" * 100000,
        either(fails("SyntaxError|RecursionError|SIGSEGV|Memory"), over("memory")),
    ),
    py(
        121,
        "large_literal",
        "x = '" + "a" * (10 << 20) + "'\ndef f(c): return len(x)\n",
        gives(10 << 20),
    ),
    py(122, "empty", "", fails("does not define")),
    py(122, "missing_function", "def g(c): return 1\n", fails("does not define 'f'")),
    py(122, "not_a_function", "f = 3\n", fails("not a function")),
    py(
        122,
        "asynchronous",
        "import asyncio\nasync def f(c):\n    await asyncio.sleep(0); return 5\n",
        gives(5),
    ),
    py(122, "generator", "def f(c): yield 1\n", fails("generator")),
    py(122, "class", "class f:\n    def __init__(s, c): pass\n", fails("not a JSON value")),
]

# Messages to other submissions, through what all of them see.
LIBRARY = "import fcntl, glob, struct\nLIBRARY = glob.glob('/usr/lib/*/libc.so.6')[0]\n"
MESSAGES = [
    py(
        67,
        "locks_a_shared_file",
        LIBRARY + "def f(c):\n    one, two = open(LIBRARY), open(LIBRARY)\n"
        "    fcntl.flock(one, fcntl.LOCK_EX)\n"
        "    return attempt(lambda: fcntl.flock(two, fcntl.LOCK_EX | fcntl.LOCK_NB))\n",
        gives("done"),
    ),
    py(
        67,
        "locks_a_device",
        LIBRARY + "def f(c):\n    one, two = open('/dev/null', 'w'), open('/dev/null', 'w')\n"
        "    lock = struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 0, 0)\n    fcntl.fcntl(one, 37, lock)\n"
        "    return attempt(lambda: fcntl.fcntl(two, 37, lock) and None)\n",
        gives("done"),
    ),
    py(
        67,
        "asks_for_locks",
        LIBRARY + "def f(c):\n    ask = struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 0, 0)\n"
        "    return [attempt(lambda: fcntl.fcntl(open(LIBRARY), n, ask) and None) for n in (5, 36)]\n",
        gives(["EPERM"] * 2),
    ),
    py(
        67,
        "is_notified_of_changes",
        LIBRARY + "def f(c):\n    folder = os.open('/usr/lib', os.O_RDONLY)\n"
        "    return attempt(lambda: fcntl.fcntl(folder, fcntl.F_NOTIFY, 0xff) and None)\n",
        gives("EPERM"),
    ),
    py(
        67,
        "leaves_times_on_devices",
        "def f(c): return [attempt(lambda: os.utime('/dev/' + d)) for d in ('null', 'zero', 'random', 'urandom')]\n",
        gives(["EROFS"] * 4),
    ),
]

PYTHON_ATTACKS = [*EXHAUSTION, *FILES_AND_PROCESSES, *NETWORK, *FORGERY, *DATA, *MESSAGES]
