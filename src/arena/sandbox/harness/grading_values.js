// Values between a grader and the submitted code, as in grading_values.py: JSON with tags in `$`.
"use strict";
const values = (() => {
  const MAX_DEPTH = 200;
  const { isSafeInteger, isInteger, isFinite } = Number;
  const { stringify, parse } = JSON;
  const { isArray } = Array;
  const { keys: keysOf, is, getPrototypeOf } = Object;
  const toBytes = (text) => new Uint8Array(Buffer.from(text, "base64"));
  const isPromise = (value) =>
    value !== null && typeof value === "object" && typeof value.then === "function";

  const encodeNumber = (value) => {
    if (value !== value) return { $: "nan" };
    if (!isFinite(value)) return { $: value > 0 ? "inf" : "-inf" };
    if (is(value, -0)) return { $: "number", v: "-0.0" };
    // Without it a large number would be read as an exact integer.
    return isInteger(value) && !isSafeInteger(value) ? { $: "number", v: String(value) } : value;
  };

  const encode = (value, hold, depth = 0) => {
    if (depth > MAX_DEPTH) throw new TypeError(`a value is nested more than ${MAX_DEPTH} levels deep`);
    switch (typeof value) {
      case "undefined": return { $: "undefined" };
      case "number": return encodeNumber(value);
      case "bigint": return { $: "int", v: `${value < 0n ? "-" : ""}0x${(value < 0n ? -value : value).toString(16)}` };
      case "boolean": case "string": return value;
      case "object": if (value === null) return null;
    }
    const held = hold(value);
    if (held !== undefined) return held;
    if (typeof value !== "object") throw new TypeError(`a ${typeof value} is not a plain value`);
    const inner = (item) => encode(item, hold, depth + 1);
    if (isArray(value)) return Array.from(value, inner);
    if (value instanceof Set) return { $: "set", v: [...value].map(inner) };
    if (value instanceof Map) return { $: "dict", v: [...value].map(([key, item]) => [inner(key), inner(item)]) };
    if (value instanceof Uint8Array) return { $: "bytes", v: Buffer.from(value).toString("base64") };
    if (ArrayBuffer.isView(value)) return Array.from(value, inner);
    if (value instanceof Date) return { $: "datetime", v: value.toISOString().replace("Z", "+00:00") };
    const names = keysOf(value);
    if (names.includes("$")) return { $: "dict", v: names.map((name) => [name, inner(value[name])]) };
    return Object.fromEntries(names.map((name) => [name, inner(value[name])]));
  };

  const decode = (value, held, depth = 0) => {
    if (depth > MAX_DEPTH + 1) throw new TypeError("a value is nested too deeply");
    if (value === null || typeof value !== "object") return value;
    const inner = (item) => decode(item, held, depth + 1);
    if (isArray(value)) return value.map(inner);
    if (!("$" in value)) {
      const made = Object.fromEntries(keysOf(value).map((name) => [name, inner(value[name])]));
      return held.object ? held.object(made) : made;
    }
    const content = value.v;
    switch (value.$) {
      case "nan": return NaN;
      case "inf": return Infinity;
      case "-inf": return -Infinity;
      case "undefined": return undefined;
      case "int": return content.startsWith("-") ? -BigInt(content.slice(1)) : BigInt(content);
      case "number": return Number(content);
      case "tuple": case "deque": return content.map(inner);
      case "set": case "frozenset": return new Set(content.map(inner));
      case "dict": return new Map(content.map(([key, item]) => [inner(key), inner(item)]));
      case "bytes": case "bytearray": return toBytes(content);
      case "date": case "datetime": return new Date(content);
      case "Decimal": case "Fraction": return Number(content);
      case "range": return rangeOf(...content);
      default: return held(value);
    }
  };

  const rangeOf = (start, stop, step) => {
    const found = [];
    for (let i = start; step > 0 ? i < stop : i > stop; i += step) found.push(i);
    return found;
  };

  const isMutable = (value) => value !== null && typeof value === "object";

  // Change `target` in place into `changed`: what a function did to its argument.
  const putBack = (target, changed) => {
    if (isArray(target)) {
      target.length = changed.length;
      changed.forEach((item, place) => { target[place] = merged(target[place], item); });
    } else if (target instanceof Set) {
      target.clear();
      for (const item of changed) target.add(item);
    } else if (target instanceof Map) {
      const items = [...changed].map(([key, item]) => [key, merged(target.get(key), item)]);
      target.clear();
      for (const [key, item] of items) target.set(key, item);
    } else if (target instanceof Uint8Array) {
      target.set(changed);
    } else if (isMutable(target)) {
      const given = changed instanceof Map ? Object.fromEntries(changed) : changed;
      for (const name of keysOf(target)) if (!(name in given)) delete target[name];
      for (const name of keysOf(given)) {
        // Not by assignment, which for `__proto__` would change more than a key.
        const item = merged(Object.hasOwn(target, name) ? target[name] : undefined, given[name]);
        Object.defineProperty(target, name, { value: item, writable: true, enumerable: true, configurable: true });
      }
    }
  };

  const merged = (old, changed) => {
    if (!isMutable(old) || !isMutable(changed) || getPrototypeOf(old) !== getPrototypeOf(changed)) return changed;
    putBack(old, changed);
    return old;
  };

  const write = (message) => Buffer.from(`${stringify(message)}\n`);

  // Lines of a descriptor, read one after the other; undefined at its end.
  const lines = (read, descriptor, limit) => {
    let pending = Buffer.alloc(0);
    return () => {
      const pieces = [pending];
      let size = pending.length;
      let end = pending.indexOf(10);
      while (end < 0) {
        const piece = Buffer.allocUnsafe(1 << 16);
        let length;
        try {
          length = read(descriptor, piece, 0, piece.length, null);
        } catch (error) {
          // A signal, which anybody in the sandbox can send, is not an end.
          if (error.code === "EINTR") continue;
          return undefined;
        }
        if (length === 0) return undefined;
        const at = piece.subarray(0, length).indexOf(10);
        end = at < 0 ? -1 : size + at;
        pieces.push(piece.subarray(0, length));
        size += length;
        if (size > limit) return undefined;
      }
      const whole = Buffer.concat(pieces);
      pending = whole.subarray(end + 1);
      return whole.toString("utf8", 0, end);
    };
  };

  return { encode, decode, putBack, isMutable, isPromise, lines, parse, write };
})();
