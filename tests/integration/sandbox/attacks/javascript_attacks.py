"""Hostile JavaScript: Node has files, processes and sockets."""

# ruff: noqa: E501 - the lines of a submission stay whole

from integration.sandbox.attacks.attack import (
    Attack,
    both,
    either,
    fails,
    gives,
    leaves_nothing,
    over,
    value,
)

TIME = over("wall_time", "cpu_time")
SLOW_OR_LARGE = over("wall_time", "cpu_time", "memory")


def js(number, name, source, contained, **more):
    return Attack(
        number=number, name=name, language="javascript", source=source, contained=contained, **more
    )


EXHAUSTION = [
    js(24, "busy_loop", "function f(c) { for (;;) {} }", TIME),
    js(
        25,
        "endless_microtasks",
        "function f(c) { const g = () => Promise.resolve().then(g); return g(); }",
        SLOW_OR_LARGE,
    ),
    js(
        26,
        "growing_array",
        "function f(c) { const a = []; for (;;) a.push({ a: [1, 2, 3] }); }",
        SLOW_OR_LARGE,
    ),
    js(
        27,
        "buffers",
        "function f(c) { const a = []; for (let i = 0; i < 100; i++) "
        "a.push(Buffer.alloc(64 << 20, 1)); return a.length; }",
        over("memory"),
    ),
    js(
        28,
        "wasm_and_shared_memory",
        "function f(c) { const kept = []; const grab = (make) => { let n = 0; try { "
        "for (; n < 100; n++) kept.push(make()); } catch (e) {} return n; };"
        "return [grab(() => new Uint8Array(new WebAssembly.Memory({ initial: 1024, maximum: 1024 })"
        ".buffer).fill(1)), grab(() => new Uint8Array(new SharedArrayBuffer(64 << 20)).fill(1))]; }",
        either(value(lambda v: sum(v) <= 12), over("memory"), fails()),
    ),
    js(
        28,
        "many_workers",
        "const { Worker } = require('node:worker_threads');"
        "async function f(c) { let n = 0; for (let i = 0; i < 1000; i++) { await new Promise((r) => {"
        " try { const w = new Worker('setInterval(()=>{},9)', { eval: true });"
        " w.on('error', r); w.on('online', () => { n++; r(); }); } catch (e) { r(); } }); } return n; }",
        either(value(lambda n: n <= 64), SLOW_OR_LARGE, fails()),
    ),
    js(
        29,
        "timer_left_running",
        "function f(c) { setInterval(() => {}, 1); return 'at once'; }",
        both(gives("at once"), lambda o: o["seconds"] < 4.5),
    ),
    js(
        29,
        "timer_writes_later",
        "const fs = require('fs'); function f(c) { setInterval(() => "
        "fs.writeSync(4, '[0,\"value\",\"late\",0]\\n'), 1); return 'first'; }",
        gives("first"),
    ),
    js(
        30,
        "regex_backtracking",
        "function f(c) { return /(a+)+$/.test('a'.repeat(40) + 'b'); }",
        TIME,
    ),
    js(
        30,
        "huge_power",
        "function f(c) { return String((7n ** (10n ** 9n)) % 5n); }",
        either(SLOW_OR_LARGE, fails("RangeError")),
    ),
    js(
        30,
        "joined_text",
        "function f(c) { let s = 'x'.repeat(2 ** 28); const a = []; "
        "for (;;) a.push((s + a.length).split('').length); }",
        either(SLOW_OR_LARGE, fails("SIG")),
    ),
    js(
        17,
        "huge_result",
        "function f(c) { return 'x'.repeat(60 << 20); }",
        over("result_size", "memory", "wall_time", "cpu_time"),
    ),
    js(
        15,
        "endless_output",
        "function f(c) { for (;;) attempt(() => require('fs').writeSync(1, 'x'.repeat(65536))); }",
        over("output", "wall_time"),
    ),
    js(19, "infinite_recursion", "function f(c) { return f(c) + 1; }", fails("RangeError")),
]

SYSTEM = [
    js(
        34,
        "reads_passwd",
        "function f(c) { return attempt(() => "
        "require('fs').readFileSync('/etc/passwd', 'utf8').slice(0, 4)); }",
        gives("ENOENT"),
    ),
    js(
        34,
        "reads_host_file",
        "function f(c) { return attempt(() => require('fs').readFileSync(c.file, 'utf8')); }",
        gives("ENOENT"),
    ),
    js(
        35,
        "lists_homes",
        "function f(c) { const fs = require('fs'); return "
        "['/root', '/home', '/var', c.folder].map((p) => attempt(() => fs.readdirSync(p))); }",
        gives(["ENOENT"] * 4),
    ),
    js(
        36,
        "writes_into_the_system",
        "function f(c) { const fs = require('fs'); return "
        "['/', '/usr/lib', '/dev', '/etc'].map((p) => attempt(() => fs.writeFileSync(p + '/x', '')));"
        " }",
        value(lambda v: all(x in ("EROFS", "EACCES", "EPERM", "ENOENT") for x in v)),
    ),
    js(
        38, "dumps_the_environment", "function f(c) { return Object.keys(process.env); }", gives([])
    ),
    js(
        39,
        "environment_of_process_1",
        "function f(c) { return attempt(() => "
        "require('fs').readFileSync('/proc/1/environ', 'utf8')).includes(c.secret); }",
        gives(False),
    ),
    js(
        41,
        "lists_processes",
        "function f(c) { return require('fs').readdirSync('/proc')"
        ".filter((p) => /^\\d+$/.test(p)); }",
        gives(["1"]),
    ),
    js(
        42,
        "writes_to_proc",
        "function f(c) { const fs = require('fs'); return "
        "['/proc/sysrq-trigger', '/proc/sys/kernel/core_pattern'].map((p) => "
        "attempt(() => fs.writeFileSync(p, 'x'))); }",
        value(lambda v: all(x in ("EROFS", "EACCES", "EPERM", "ENOENT") for x in v)),
    ),
    js(
        48,
        "kills_everybody",
        "function f(c) { attempt(() => process.kill(-1, 9)); "
        "attempt(() => process.kill(process.ppid, 9)); return process.ppid; }",
        either(gives(0), fails("SIGKILL")),
    ),
    js(
        51,
        "leaves_files_behind",
        "function f(c) { const fs = require('fs'); const seen = "
        "['/tmp', '/dev/shm', '/desk'].map((p) => fs.readdirSync(p)); "
        "fs.writeFileSync('/tmp/left', ''); fs.writeFileSync('/desk/left', ''); return seen; }",
        gives([[], [], []]),
    ),
    js(
        51,
        "leaves_files_behind_again",
        "function f(c) { const fs = require('fs'); const seen = "
        "['/tmp', '/dev/shm', '/desk'].map((p) => fs.readdirSync(p)); "
        "fs.writeFileSync('/tmp/left', ''); fs.writeFileSync('/desk/left', ''); return seen; }",
        gives([[], [], []]),
    ),
    js(
        61,
        "connects_to_the_canary",
        "function f(c) { return new Promise((r) => { "
        "const s = require('net').connect(c.port, '127.0.0.1'); s.on('connect', () => { s.destroy(); r('connected'); });"
        " s.on('error', (e) => r(e.code)); }); }",
        gives("EPERM"),
    ),
    js(
        65,
        "cloud_metadata",
        "function f(c) { return new Promise((r) => { "
        "const s = require('net').connect(80, '169.254.169.254'); s.on('connect', () => { s.destroy(); r('connected'); });"
        " s.on('error', (e) => r(e.code)); }); }",
        gives("EPERM"),
    ),
    js(
        66,
        "fetch",
        "function f(c) { return fetch('http://127.0.0.1:' + c.port)"
        ".then(() => 'connected', () => 'failed'); }",
        gives("failed"),
    ),
    js(
        66,
        "datagram",
        "function f(c) { return new Promise((r) => { "
        "const s = require('dgram').createSocket('udp4'); s.on('error', (e) => r(e.code)); "
        "s.bind(0, () => { s.close(); r('bound'); }); }); }",
        gives("EPERM"),
    ),
    js(
        66,
        "http2",
        "function f(c) { return new Promise((r) => { const s = require('http2')"
        ".connect('http://127.0.0.1:' + c.port); s.on('connect', () => { s.destroy(); r('connected'); }); "
        "s.on('error', (e) => r(e.code)); }); }",
        gives("EPERM"),
    ),
    js(
        66,
        "inspector",
        "function f(c) { const i = require('inspector'); "
        "try { i.open(0, '127.0.0.1'); } catch (e) { return 'failed'; } return String(i.url()); }",
        gives("failed", "undefined"),
    ),
    js(
        66,
        "listens",
        "function f(c) { return new Promise((r) => { "
        "const s = require('net').createServer(); s.on('error', (e) => r(e.code)); "
        "s.listen(0, '127.0.0.1', () => { s.close(); r('listening'); }); }); }",
        gives("EPERM"),
    ),
    js(
        67,
        "watches_shared_files",
        "function f(c) { return attempt(() => { require('fs').watch('/usr/lib').close(); }); }",
        gives("ENOSYS"),
    ),
    js(
        109,
        "leaves_vm",
        "const vm = require('vm'); function f(c) { const g = vm.runInNewContext("
        "\"this.constructor.constructor('return process')()\"); "
        "return attempt(() => g.getBuiltinModule ? 'out' : g.mainModule ? 'out' : typeof g.version) && "
        "attempt(() => require('fs').readFileSync(c.file, 'utf8')); }",
        gives("ENOENT"),
    ),
    js(
        110,
        "bindings",
        "function f(c) { try { const b = process.binding('fs'); const fd = b.open(c.file, 0, 0o666);"
        " return typeof fd; } catch (e) { return e.code; } }",
        gives("ENOENT"),
    ),
    js(
        110,
        "dlopen",
        "function f(c) { const fs = require('fs'); const folder = fs.readdirSync('/usr/lib')"
        ".find((n) => n.endsWith('-linux-gnu') && fs.existsSync(`/usr/lib/${n}/libz.so.1`));"
        " fs.copyFileSync(`/usr/lib/${folder}/libz.so.1`, '/desk/x.node');"
        " try { process.dlopen({ exports: {} }, '/desk/x.node'); return 'loaded'; }"
        " catch (e) { return /self-register/.test(e.message) ? 'loaded' : e.code; } }",
        gives("ERR_DLOPEN_FAILED"),
    ),
    js(
        110,
        "child_reads_host_file",
        "function f(c) { const { spawnSync } = require('child_process');"
        " const r = spawnSync(process.execPath, ['-e', "
        "`require('fs').readFileSync('${c.file}')`]); return r.status === 0; }",
        gives(False),
    ),
    js(
        49,
        "daemon",
        "function f(c) { require('child_process').spawn(process.execPath, "
        "['-e', 'setInterval(()=>{},600049)'], { detached: true, stdio: 'ignore' }).unref(); "
        "return 'left'; }",
        both(gives("left"), leaves_nothing),
        marker="},600049)",
    ),
]

FORGERY = [
    js(
        108,
        "pollutes_prototypes",
        "Object.prototype.toJSON = () => 'lie'; Array.prototype.map = () => ['lie']; "
        "JSON.stringify = () => '\"lie\"'; String.prototype.replace = () => 'lie'; "
        "Object.keys = () => ['lie']; Array.isArray = () => false; "
        "function f(c) { return { a: [1, 'x'] }; }",
        gives({"a": [1, "x"]}),
    ),
    js(111, "exits", "function f(c) { process.exit(0); }", fails("without a result")),
    js(111, "aborts", "function f(c) { process.abort(); }", fails("SIG")),
    js(
        111,
        "throws_in_a_microtask",
        "function f(c) { queueMicrotask(() => { throw 1; }); "
        "return new Promise((r) => setTimeout(r, 500)); }",
        fails("without a result"),
    ),
    js(
        111,
        "unhandled_rejection",
        "function f(c) { Promise.reject(new Error('x')); "
        "return new Promise((r) => setTimeout(r, 500)); }",
        fails("without a result"),
    ),
    js(
        111, "thenable", "function f(c) { return { then(r) { r('settled'); } }; }", gives("settled")
    ),
    js(
        111,
        "throwing_getter",
        "function f(c) { return { get a() { throw new Error('no'); } }; }",
        fails("Error: no"),
    ),
    js(
        111,
        "proxy",
        "function f(c) { return new Proxy({}, { ownKeys() { throw new Error('no'); } }); }",
        fails("Error: no"),
    ),
    js(
        111,
        "never_settles",
        "function f(c) { return new Promise(() => {}); }",
        either(fails("without a result"), over("wall_time")),
    ),
    js(111, "throws_nothing", "function f(c) { throw undefined; }", fails("undefined")),
    js(
        111,
        "throws_a_trap",
        "function f(c) { throw { get name() { throw 1; }, get message() { throw 2; } }; }",
        fails("cannot be read"),
    ),
    js(
        99,
        "forges_a_frame",
        "function f(c) { require('fs').writeSync(4, '[0,\"value\",1,0]\\n'); return 2; }",
        fails("protocol violation"),
    ),
    js(
        112,
        "searches_for_the_answer",
        "function f(c) { const needle = 'expected-' + c.needle; Error.prepareStackTrace = (e, s) => "
        "s.map((x) => String(x.getFunction())); const t = new Error('x').stack; "
        "const h = require('v8').getHeapSnapshot().read(); "
        "return [String(t).includes(needle), typeof arguments.callee.caller]; }",
        value(lambda v: v[0] is False),
    ),
]

DATA = [
    js(
        113,
        "values",
        "function f(c) { return [-0, 1n, 2n ** 64n, new Date(0), , null, 'x', 0.1]; }",
        lambda o: (
            o["error"] is None
            and o["value"][:4] == [0, 1, 2**64, "1970-01-01T00:00:00.000Z"]
            and o["value"][5:] == [None, "x", 0.1]
        ),
    ),
    js(
        113,
        "to_primitive",
        "function f(c) { return { [Symbol.toPrimitive]: () => 42, a: 1 }; }",
        gives({"a": 1}),
    ),
    js(113, "function", "function f(c) { return () => 1; }", fails("function")),
    js(113, "symbol", "function f(c) { return Symbol('x'); }", fails("symbol")),
    js(113, "regular_expression", "function f(c) { return /x/; }", fails("RegExp")),
    js(113, "typed_array", "function f(c) { return new Uint8Array(2); }", fails("Uint8Array")),
    js(
        116,
        "contains_itself",
        "function f(c) { const x = []; x.push(x); return x; }",
        fails("nested"),
    ),
    js(
        117,
        "lone_surrogate",
        "function f(c) { return '\\ud800'; }",
        lambda o: o["error"] is None and o["value"] == "\ud800",
    ),
    js(
        119,
        "tag_in_the_result",
        "function f(c) { return { $arena: 'nan' }; }",
        gives({"$arena": "nan"}),
    ),
    js(121, "syntax_error", "function f(c) { return", fails("SyntaxError")),
    js(122, "missing_function", "function g(c) {}", fails("does not define")),
    js(122, "not_a_function", "const f = 3;", fails("not a function")),
    js(122, "class", "class f { constructor(c) {} }", fails("TypeError")),
    js(122, "generator", "function* f(c) { yield 1; }", fails("Generator")),
    js(122, "asynchronous", "async function f(c) { await null; return 5; }", gives(5)),
]

JAVASCRIPT_ATTACKS = [*EXHAUSTION, *SYSTEM, *FORGERY, *DATA]
