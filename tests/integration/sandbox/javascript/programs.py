"""Generates small JavaScript programs: deterministic by seed, and varied in what V8 is asked to do."""

# ruff: noqa: E501 - the lines of a program stay whole

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    body: str
    """The body of a function without parameters."""
    alone: bool = False
    """It changes what all programs of a process share."""


NUMBERS = [
    "0",
    "-0",
    "1",
    "-1",
    "0.5",
    "0.1",
    "0.2",
    "1/3",
    "NaN",
    "Infinity",
    "-Infinity",
    "2**31",
    "-(2**31)",
    "2**32",
    "2**53",
    "2**53+2",
    "-(2**53)",
    "2**60",
    "2**63",
    "2**64",
    "123456789012345680000",
    "1e21",
    "1e-7",
    "1e-6",
    "5e-324",
    "1.7976931348623157e308",
    "255",
    "4294967295",
    "1.005",
    "0.000001234",
    "12345.6789",
    "100",
    "1e100",
    "-1.5",
    "2.5",
    "9007199254740993",
]
STRINGS = (
    "''", "'a'", "'Zebra'", "'äöü'", "'ß'", "'İ'", "'\\ud83d\\ude00'", "'\\ud800'", "'a\\u0301'", "'1e3'", "' 12 '",
    "'0x1f'", "'𝒳y'", "'foo bar baz'", "'\\u2028'", "'\\0'", "'Ǆ'", "'ﬀ'", "'a,b;c'", "'ΑΣ'",
)  # fmt: skip
OTHERS = (
    "null",
    "undefined",
    "true",
    "false",
    "[]",
    "{}",
    "[1,2,3]",
    "[3,,1]",
    "({a:1,b:[2]})",
    "10n",
    "-7n",
    "2n**70n",
)
BINARY = [
    "+",
    "-",
    "*",
    "/",
    "%",
    "**",
    "<<",
    ">>",
    ">>>",
    "&",
    "|",
    "^",
    "==",
    "===",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&&",
    "||",
    "??",
]
UNARY = ("-", "+", "~", "!", "typeof ", "void ")
CALLS = (
    "String({})", "Number({})", "Math.floor({})", "Math.round({})", "Math.trunc({})", "Math.sign({})", "Math.fround({})",
    "Math.hypot({},3)", "Math.sin({})", "Math.log10({})", "Math.cbrt({})", "Math.clz32({})", "Math.imul({},77)",
    "JSON.stringify({})", "Array.of({})", "parseInt({})", "parseFloat({})", "Object.is({},-0)", "[{}].flat(2)",
    "`${{{}}}`", "[{}].concat([0])", "Boolean({})", "[{},1].join()", "({{k:{}}})", "new Set([{}])", "new Map([[{},1]])",
    "isNaN({})", "BigInt.asIntN(8,BigInt({}))", "Array.from({})", "Object.entries({})", "Math.expm1({})", "Math.atan2({},2)",
    "encodeURIComponent({})", "structuredClone({})", "new Date({})", "Math.exp({})", "Math.pow({},0.5)", "Math.tanh({})",
)  # fmt: skip


class Writer:
    def __init__(self, seed: str) -> None:
        self.chance = Random(seed)

    def one(self, options):
        return self.chance.choice(options)

    def number(self) -> str:
        kind = self.chance.randrange(4)
        if kind == 0:
            return repr(self.chance.uniform(-1e6, 1e6))
        if kind == 1:
            return repr(self.chance.random() * 10.0 ** self.chance.randrange(-320, 308))
        if kind == 2:
            return str(self.chance.randrange(-(2**65), 2**65))
        return self.one(NUMBERS)

    def string(self) -> str:
        if self.chance.random() < 0.5:
            return self.one(STRINGS)
        units = [self.chance.choice((range(32, 127), range(0xC0, 0x250), range(0x370, 0x600), range(0x1F600, 0x1F640), range(0xD800, 0xE000)))
                 for _ in range(self.chance.randrange(1, 9))]  # fmt: skip
        return "'" + "".join(f"\\u{{{self.chance.choice(unit):x}}}" for unit in units) + "'"

    def value(self) -> str:
        pick = self.chance.randrange(3)
        return (self.number, self.string, lambda: self.one(OTHERS))[pick]()

    def expression(self, depth: int) -> str:
        if depth == 0:
            return f"({self.value()})"
        kind = self.chance.randrange(8)
        inner = lambda: self.expression(depth - 1)  # noqa: E731
        if kind < 3:
            return f"({inner()} {self.one(BINARY)} {inner()})"
        if kind == 3:
            return f"({self.one(UNARY)}{inner()})"
        if kind == 4:
            return f"({inner()} ? {inner()} : {inner()})"
        return self.one(CALLS).format(inner())

    def numbers(self) -> str:
        return "[" + ",".join(self.number() for _ in range(self.chance.randrange(2, 12))) + "]"

    def strings(self) -> str:
        return "[" + ",".join(self.string() for _ in range(self.chance.randrange(2, 12))) + "]"

    def texts(self) -> str:
        return json.dumps(
            "".join(
                self.one("aAbB01 -_.,éß\n\u00e9😀") for _ in range(self.chance.randrange(1, 24))
            )
        )


def expressions(w: Writer) -> str:
    return f"return [{w.expression(2)}, {w.expression(3)}];"


def formatting(w: Writer) -> str:
    n, radix, digits = w.number(), w.chance.randrange(2, 37), w.chance.randrange(0, 25)
    return (
        f"const n = {n}; const t = [String(n), '' + n, n.toString({radix}), JSON.stringify(n), `${{[n]}}`];"
        f" for (const g of ['toFixed', 'toPrecision', 'toExponential']) try {{ t.push(n[g]({digits})); }} catch (e) {{ t.push('' + e); }}"
        f" return [n, -n, n + 1, n * 2 ** 53, t, Number(n.toString()), parseFloat(t[0])];"
    )


def strings(w: Writer) -> str:
    return (
        f"const s = {w.string()} + {w.string()}; return [s.length, s.toUpperCase(), s.toLowerCase(), [...s], s.split(''),"
        f" s.normalize('{w.one(['NFC', 'NFD', 'NFKC', 'NFKD'])}'), s.at(-1), s.codePointAt(0), s.charCodeAt({w.chance.randrange(6)}),"
        f" s.padStart({w.chance.randrange(12)}, {w.string()}), s.slice({w.chance.randrange(-4, 4)}), s.indexOf({w.string()}), s.trim(),"
        f" s.localeCompare({w.string()}), escape(s), s.isWellFormed ? s.isWellFormed() : 0, s.replaceAll('a', '$&$&'), s < {w.string()}];"
    )


def patterns(w: Writer) -> str:
    pattern = w.one(
        (
            r"(\w)(\d)?",
            r"[a-c]+",
            r"(?<x>[A-Z])",
            r"\s*",
            r"(a|b)*?",
            r"(?<=a).",
            r"\p{L}+",
            r"[^\x00-\x7f]",
            r".",
            r"\b",
            r"(?!a)[a-z]",
            r"(.)\1",
            r"\d+(?:-|_)",
        )
    )
    flags = w.one(("g", "gi", "gu", "gm", "gs", "giu", "gd"))
    if "p{" in pattern and "u" not in flags:
        flags += "u"
    return (
        f"const s = {w.texts()}; const r = /{pattern}/{flags}; return [s.replace(r, '<$1|$&>'), s.split(r), [...s.matchAll(r)].map((m) => [m.index, [...m], {{ ...m.groups }}]),"
        f" s.search(r), r.test(s), r.lastIndex, s.match(/{pattern}/{flags.replace('g', '')})?.[0], String(r), r.flags];"
    )


def sorting(w: Writer) -> str:
    how = w.one(
        (
            "",
            "(a, b) => a - b",
            "(a, b) => b < a ? 1 : -1",
            "(a, b) => String(a).length - String(b).length",
            "() => 0",
            "(a, b) => (a > b) - (a < b)",
        )
    )
    items = w.one((w.numbers, w.strings))()
    return (
        f"const a = {items}; const s = [...a].sort({how}); return [s, [...a].reverse(), a.map((x, i) => [x, i]).sort(([x], [y]) => String(x).length - String(y).length),"
        f" a.toSorted ? a.toSorted({how}) : s, a.indexOf(NaN), a.includes(NaN), a.reduce((x, y) => x + y), [...new Set(a)], a.findLast((x) => x > 1)];"
    )


def dates(w: Writer) -> str:
    moment = w.one(
        (
            str(w.chance.randrange(-(10**13), 10**13)),
            "'2024-02-29'",
            "'2024-02-30T10:00:00'",
            "2019, 12, 31",
            "'Tue, 05 Nov 2024 10:00:00 +0330'",
            "0",
            "8.64e15",
            "8.64e15 + 1",
            "'x'",
            "'+010000-01-01T00:00:00Z'",
        )
    )
    return (
        f"const d = new Date({moment}); d.setDate(d.getDate() + {w.chance.randrange(-400, 400)}); return [d.getTime(), String(d), d.getDay(), d.toJSON(), d.getTimezoneOffset(),"
        " d.toUTCString(), d.toLocaleString(), d.toLocaleDateString('de-DE', { weekday: 'long', month: 'short' }), Date.UTC(d.getFullYear(), 1), isNaN(d) ? 0 : d];"
    )


def locales(w: Writer) -> str:
    locale = w.one(("en-US", "de-DE", "fr", "ja-JP", "ar-EG", "tr", "hi-IN", "sv"))
    style = w.one(
        (
            "{}",
            "{ style: 'percent' }",
            "{ style: 'currency', currency: 'EUR' }",
            "{ notation: 'compact' }",
            "{ maximumSignificantDigits: 3 }",
            "{ style: 'unit', unit: 'liter' }",
        )
    )
    return (
        f"const n = {w.number()}; return [new Intl.NumberFormat('{locale}', {style}).format(n), n.toLocaleString(), {w.strings()}.sort(new Intl.Collator('{locale}', {{ numeric: true }}).compare),"
        f" new Intl.PluralRules('{locale}').select(Math.abs(n) % 100), 'Iıİi'.toLocaleLowerCase('{locale}'), new Intl.ListFormat('{locale}').format({w.strings()}),"
        f" [...new Intl.Segmenter('{locale}').segment({w.string()})].map((s) => s.segment), new Intl.DateTimeFormat('{locale}', {{ dateStyle: 'full', timeZone: 'Asia/Tokyo' }}).format({w.chance.randrange(10**12)}),"
        f" new Intl.RelativeTimeFormat('{locale}').format({w.chance.randrange(-9, 9)}, 'day'), Intl.DateTimeFormat().resolvedOptions().timeZone];"
    )


def recursion(w: Writer) -> str:
    depth = w.chance.randrange(10, 9001)
    return w.one((
        f"const r = (n) => n === 0 ? 0 : 1 + r(n - 1); try {{ return r({depth}); }} catch (e) {{ return '' + e; }}",
        f"function r(n) {{ return n && 1 + r(n - 1); }} try {{ return r({depth}); }} catch (e) {{ return '' + e; }}",
        "function r() { return 1 + r(); } try { return r(); } catch (e) { return [e.name, e.message, e instanceof RangeError, e.constructor === RangeError]; }",
        "const o = { get a() { return o.a; } }; try { return o.a; } catch (e) { return '' + e; }",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; try { return String(JSON.stringify(a)).length; } catch (e) { return e.name; }",
        f"function* g(n) {{ if (n) yield* g(n - 1); yield n; }} let s = 0; for (const x of g({depth % 300})) s += x; return s;",
    ))  # fmt: skip


def errors(w: Writer) -> str:
    cause = w.one((
        "null.x", "undefined.y.z", "(void 0)()", "x", "let q = q", "new Array(-1)", "'a'.repeat(-1)", "1n + 1", "BigInt(1.5)", "JSON.parse('{\"a\":')",
        "decodeURIComponent('%')", "new RegExp('(')", "Symbol() + ''", "[].reduce((a) => a)", "(1).toFixed(101)", "Object.defineProperty(Object.freeze([]), 0, {})",
        "({}) instanceof 5", "'x' in 'y'", "new (class A { constructor() { this.x.y; } })()", "throw new TypeError('own', { cause: 1 })", "throw 'text'", "throw 42",
        "throw Object.assign(new Error('m'), { name: 'N', code: 7 })", "throw new (class E extends Error { get name() { return 'E'; } })('deep')", "throw new AggregateError([new Error(1)], 'many')",
        "const { a } = null", "const [b] = 5", "for (const z of {}) ;", "super_()", "new Intl.NumberFormat('x-invalid-locale-')", "structuredClone(() => 1)", "new Proxy({}, null)", f"({w.expression(2)}).a.b.c",
        "class B { #p; static t(o) { return o.#p; } } B.t({})", "eval('1 +')", "new Function('return }')", "Reflect.construct(1)", "await1()", "Object.fromEntries([1])",
    ))  # fmt: skip
    return w.one((
        f"{cause}; return 'no error';",
        f"try {{ {cause}; }} catch (e) {{ return ['' + String(e), e?.name, e?.message, Object.keys(Object(e)), e instanceof Error]; }} return 'no error';",
        f"try {{ {cause}; }} catch {{ return 1; }} finally {{ console.log('finally'); }} return 2;",
    ))  # fmt: skip


def documents(w: Writer) -> str:
    value = w.expression(2)
    return (
        f"const v = {{ a: {value}, b: [{w.value()}, undefined, () => 1], c: new Date({w.chance.randrange(10**12)}), [Symbol('s')]: 1, toJSON(k) {{ return {{ ...this, k, toJSON: 0 }}; }} }};"
        f" const t = (f) => {{ try {{ return f(); }} catch (e) {{ return '' + e; }} }};"
        f" return [t(() => JSON.stringify(v, null, {w.chance.randrange(4)})), t(() => JSON.stringify(v, ['a', 'b'])), t(() => JSON.stringify(v, (k, x) => typeof x === 'number' ? -x : x)),"
        f' t(() => JSON.parse(JSON.stringify({w.texts()}))), t(() => JSON.parse(\'[1,{{"a":1e400,"__proto__":[-0]}}]\', (k, x) => x))];'
    )


def collections(w: Writer) -> str:
    kind = w.one(
        (
            "Int8Array",
            "Uint8ClampedArray",
            "Uint16Array",
            "Int32Array",
            "Float32Array",
            "Float64Array",
        )
    )
    return (
        f"const t = new {kind}({w.numbers()}); const m = new Map({w.strings()}.map((s, i) => [s, i])); m.set(NaN, -0).set(-0, NaN);"
        f" const v = new DataView(new ArrayBuffer(16)); v.setFloat64(1, {w.number()}); v.setInt16(9, {w.chance.randrange(70000)}, true);"
        f" return [[...t], [...t.subarray(1)].map(String), m, new Set([...m.values()]), [...new Uint8Array(v.buffer)], v.getBigUint64(2), m.get(NaN), t.join('|'), Array.from(m.keys()).length,"
        f" Object.groupBy ? Object.keys(Object.groupBy({w.strings()}, (s) => s.length)) : 0, new WeakSet([t]).has(t), Array.from(t).sort(), BigInt.asUintN(64, {w.chance.randrange(-(10**20), 10**20)}n)];"
    )


def structures(w: Writer) -> str:
    return (
        f"const [a, {{ b = {w.value()}, ...rest }} = {{}}, ...more] = [{w.value()}, {{ c: {w.value()}, d: {w.value()} }}, {w.value()}, {w.value()}];"
        f" const made = []; for (var i = 0; i < 3; i++) made.push(() => i); for (let j = 0; j < 3; j++) made.push(() => j * {w.chance.randrange(9)});"
        f" function* g() {{ try {{ const x = yield 1; yield x + {w.number()}; }} finally {{ yield 'end'; }} }} const it = g(); const seen = [it.next(), it.next({w.number()}), it.return(7), it.next(), it.next()];"
        f" const k = (x, y = x, ...z) => [x, y, z, k.length, k.name]; return [a, b, rest, more, made.map((f) => f()), seen, k({w.value()}), (function () {{ return [arguments, typeof this, new.target]; }})(1, 2), [...'{w.one('abc')}é'].entries().toString()];"
    )


def members(w: Writer) -> str:
    return (
        f"class A {{ #n = {w.number()}; static s = {w.value()}; get n() {{ return this.#n; }} set n(v) {{ this.#n = v; }} static #count() {{ return 3; }} static c() {{ return A.#count(); }} [Symbol.toPrimitive](h) {{ return h + this.#n; }}"
        f" *[Symbol.iterator]() {{ yield this.#n; }} toString() {{ return 'A'; }} }} class B extends A {{ constructor() {{ super(); this.z = super.n; }} get n() {{ return [super.n]; }} }}"
        f" const b = new B(); const o = {{ get x() {{ return {w.value()}; }}, ['k' + 1]: 2, __proto__: {{ y: 3 }}, 5: 'five', b: 1, 1: 'one' }}; Object.defineProperty(o, 'hidden', {{ value: 1 }});"
        f" return [`${{b}}`, b + 1, +b, [...b], b, o, Object.keys(o), A.s, A.c(), b.n, String(Symbol('d')), 'y' in o, Object.getOwnPropertyNames(B.prototype), B.name, typeof B, Object.getOwnPropertyNames(o)];"
    )


def flow(w: Writer) -> str:
    return (
        f"const out = []; outer: for (let i = 0; i < {w.chance.randrange(2, 9)}; i++) {{ for (let j = 0; ; j++) {{ if (j > {w.chance.randrange(1, 5)}) continue outer; if (i * j === {w.chance.randrange(12)}) break outer; out.push(i * 10 + j); }} }}"
        f" block: {{ out.push('in'); if ({w.expression(1)}) break block; out.push('past'); }} switch ({w.value()}) {{ case 1: out.push('one'); case 'a': out.push('a'); break; default: out.push('d'); case null: out.push('n'); }}"
        f" let n = 0; do {{ n += 3; if (n % 2) continue; }} while (n < {w.chance.randrange(30)}); for (const k in {w.one(OTHERS[4:9])}) out.push(k); try {{ try {{ throw {w.value()}; }} finally {{ out.push('f'); }} }} catch (e) {{ out.push(e); }} return [out, n, (() => {{ try {{ return 1; }} finally {{ n = 9; }} }})(), n];"
    )


def output(w: Writer) -> str:
    method = w.one(("log", "info", "debug", "table", "dir", "error", "warn"))
    return (
        f"console.{method}({w.expression(1)}, {w.value()}, {{ a: [{w.value()}, new Map([[{w.value()}, {{ b: {{ c: {{ d: 1 }} }} }}]])] }}); console.log('%s|%d|%i|%j|%o%%', {w.value()}, {w.number()}, {w.number()}, {{ a: 1 }}, [1]);"
        f" console.group('g'); console.log([{w.numbers()}, {w.string()}, Symbol('x'), () => 1, class Q {{}}, null, new Date(0), /x/g]); console.groupEnd(); process.stdout.write({w.texts()} + '\\n'); return {w.value()};"
    )


def promises(w: Writer) -> str:
    return (
        f"const log = []; const p = (x) => new Promise((r, j) => typeof x === 'string' ? j(x) : setTimeout(r, 0, x)); queueMicrotask(() => log.push('micro')); process.nextTick(() => log.push('tick'));"
        f" return (async () => {{ log.push(1); await null; log.push(2); const s = await Promise.allSettled([p({w.value()}), p({w.value()}), {w.value()}, {{ then(r) {{ r({w.value()}); }} }}]); log.push(await Promise.race([p(1), 2]));"
        f" for await (const x of (async function* () {{ yield {w.value()}; yield p(3); }})()) log.push(x); try {{ await Promise.any([p('a')]); }} catch (e) {{ log.push('' + e); }} {w.one(('', 'throw new RangeError(1);', 'await Promise.reject(null);'))} return [log, s]; }})();"
    )


def pollution(w: Writer) -> str:
    change = w.one((
        "Object.prototype.toJSON = () => 'lie'", "Array.prototype.toJSON = function () { return 'lie'; }", "String.prototype.toJSON = () => 'lie'", "Object.prototype.extra = 5", "Array.prototype[1] = 'hole'",
        "JSON.stringify = () => 'lie'", "Promise.prototype.then = () => 'lie'", "RegExp.prototype.exec = () => null", "Array.prototype[Symbol.iterator] = function* () { yield 'lie'; }", "Number.prototype.toString = () => 'lie'",
        "globalThis.JSON = globalThis.Reflect = globalThis.Object = undefined", "globalThis.process = { exit() {} }", "globalThis.console = { log: () => 0 }", "globalThis.Buffer = undefined", "Reflect.apply = () => 'lie'",
        "String = Number = Array = () => 'lie'", "Object.defineProperty(Object.prototype, '0', { set() {}, get() { return 'zero'; }, configurable: true })", "String.prototype.slice = () => 'lie'", "Date.prototype.toISOString = () => 'lie'",
        "Map.prototype.forEach = Set.prototype.forEach = () => {}", "Error.prototype.name = 'Changed'", "BigInt.prototype.toString = () => '5'", "Function.prototype.call = Function.prototype.apply = () => 'lie'", "Array.isArray = () => false",
        "delete Object.prototype.propertyIsEnumerable", "Buffer.from = () => 'lie'", "Uint8Array.prototype.subarray = null", "Symbol.prototype.description", "Promise.resolve = null", "globalThis.Promise = class {}",
    ))  # fmt: skip
    result = w.one(
        (
            "({ a: [1, , -0], s: 'é\\ud800', n: 2 ** 60 })",
            "new Map([[1, new Set(['x'])]])",
            "new Date(5)",
            "(async () => [1n, 'x', 0.1])()",
            "(() => { throw new TypeError('t'); })()",
            "[]",
            "[{ b: undefined }]",
        )
    )
    return f"{change}; return {result};"


FAMILIES: tuple[tuple[Callable[[Writer], str], int], ...] = (
    (expressions, 6), (formatting, 3), (strings, 3), (patterns, 3), (sorting, 2), (dates, 2), (locales, 1), (recursion, 1),
    (errors, 3), (documents, 2), (collections, 2), (structures, 2), (members, 2), (flow, 2), (output, 2), (promises, 1),
)  # fmt: skip
POLLUTING_SHARE = 0.01
"""Each needs a process of its own."""


def program(seed: int, number: int) -> Program:
    """The program with this number: the same for the same seed."""
    writer = Writer(f"{seed}/{number}")
    if writer.chance.random() < POLLUTING_SHARE:
        return Program(body=pollution(writer), alone=True)
    [family] = writer.chance.choices([one for one, _ in FAMILIES], [share for _, share in FAMILIES])
    strict = "'use strict'; " if writer.chance.random() < 0.2 else ""
    return Program(body=strict + family(writer))


def submission(programs: list[Program]) -> str:
    """One script whose function f(n) runs the program with that place."""
    functions = ",\n".join(f"function () {{ {one.body} }}" for one in programs)
    return f"var programs = [{functions}];\nfunction f(place) {{ return programs[place](); }}\n"
