// Calls a JavaScript function with every input and emits one line per result. The same script runs
// in QuickJS and in Node, before any untrusted code: it keeps the built-ins it needs, so that a
// submission that changes them affects only itself.
((host) => {
  "use strict";
  const MAX_DEPTH = 200;
  const { apply, ownKeys, getPrototypeOf } = Reflect;
  const { stringify, parse } = JSON;
  const { isArray } = Array;
  const { isFinite, isInteger } = Number;
  const { is } = Object;
  const propertyIsEnumerable = Object.prototype.propertyIsEnumerable;
  const tagOf = Object.prototype.toString;
  const toISOString = Date.prototype.toISOString;
  const forEachMember = Set.prototype.forEach;
  const forEachEntry = Map.prototype.forEach;
  const bigText = BigInt.prototype.toString;
  const slice = String.prototype.slice;
  const sizeOfSet = Object.getOwnPropertyDescriptor(Set.prototype, "size").get;
  const sizeOfMap = Object.getOwnPropertyDescriptor(Map.prototype, "size").get;
  const SetOf = Set;
  const MapOf = Map;
  const PromiseOf = Promise;

  class NotEncodable extends Error {}

  // JSON.stringify leaves characters above 0x7e as they are; the lines are ASCII.
  const beyond = /[\u007f-\uffff]/g;
  const replace = String.prototype.replace;
  const unitAt = String.prototype.charCodeAt;
  const digits = Number.prototype.toString;
  const pad = String.prototype.padStart;
  const escapeUnit = (unit) =>
    "\\u" + apply(pad, apply(digits, apply(unitAt, unit, [0]), [16]), [4, "0"]);
  const quote = (text) => apply(replace, stringify(text), [beyond, escapeUnit]);

  const answers = (getter, value) => {
    try {
      apply(getter, value, []);
      return true;
    } catch {
      return false;
    }
  };

  const encodeNumber = (value) => {
    if (value !== value) return '{"$arena":"nan"}';
    if (!isFinite(value)) return value > 0 ? '{"$arena":"infinity"}' : '{"$arena":"-infinity"}';
    if (is(value, -0)) return "-0.0";
    return `${value}`;
  };

  const encode = (value, depth) => {
    switch (typeof value) {
      case "undefined": return '{"$arena":"undefined"}';
      case "boolean": return value ? "true" : "false";
      case "number": return encodeNumber(value);
      case "string": return quote(value);
      case "bigint": return apply(bigText, value, []);
      case "object": return value === null ? "null" : encodeObject(value, depth + 1);
      default: throw new NotEncodable(`the result holds a ${typeof value}, which is not a value`);
    }
  };

  const encodeObject = (value, depth) => {
    if (depth > MAX_DEPTH) throw new NotEncodable(`the result is nested more than ${MAX_DEPTH} levels deep`);
    if (isArray(value)) return encodeArray(value, depth);
    if (answers(sizeOfSet, value)) return encodeSet(value, depth);
    if (answers(sizeOfMap, value)) return encodeMap(value, depth);
    if (answers(toISOString, value)) return quote(apply(toISOString, value, []));
    const tag = apply(tagOf, value, []);
    if (tag !== "[object Object]" && tag !== "[object Arguments]") {
      const prototype = getPrototypeOf(value);
      if (prototype !== null && prototype !== Object.prototype) {
        throw new NotEncodable(`the result holds a ${apply(slice, tag, [8, -1])}, which is not a JSON value`);
      }
    }
    return encodePlain(value, depth);
  };

  const encodeArray = (value, depth) => {
    let text = "";
    const length = value.length;
    for (let i = 0; i < length; i++) text += (i ? "," : "") + encode(value[i], depth);
    return `[${text}]`;
  };

  const encodeSet = (value, depth) => {
    let text = "";
    let first = true;
    apply(forEachMember, value, [(member) => {
      text += (first ? "" : ",") + encode(member, depth);
      first = false;
    }]);
    return `{"$arena":"set","members":[${text}]}`;
  };

  const encodeMap = (value, depth) => {
    let text = "";
    let first = true;
    apply(forEachEntry, value, [(item, key) => {
      text += `${first ? "" : ","}[${encode(key, depth)},${encode(item, depth)}]`;
      first = false;
    }]);
    return `{"$arena":"map","entries":[${text}]}`;
  };

  const encodePlain = (value, depth) => {
    const keys = ownKeys(value);
    let plain = "";
    let entries = "";
    let tagged = false;
    let first = true;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      if (typeof key !== "string" || !apply(propertyIsEnumerable, value, [key])) continue;
      const name = quote(key);
      const item = encode(value[key], depth);
      plain += `${first ? "" : ","}${name}:${item}`;
      entries += `${first ? "" : ","}[${name},${item}]`;
      first = false;
      if (key === "$arena") tagged = true;
    }
    return tagged ? `{"$arena":"object","entries":[${entries}]}` : `{${plain}}`;
  };

  const untag = (value) => {
    if (value === null || typeof value !== "object") return value;
    if (isArray(value)) {
      for (let i = 0; i < value.length; i++) value[i] = untag(value[i]);
      return value;
    }
    switch (value.$arena) {
      case "nan": return NaN;
      case "infinity": return Infinity;
      case "-infinity": return -Infinity;
      case "undefined": return undefined;
      case "set": return new SetOf(untag(value.members));
      case "map": return new MapOf(untag(value.entries));
      case "object": return Object.fromEntries(untag(value.entries));
    }
    for (const key of Object.keys(value)) value[key] = untag(value[key]);
    return value;
  };

  // JSON.parse, with the tags; text without any is not walked again.
  const load = (text) => (text.includes('"$arena"') ? untag(parse(text)) : parse(text));

  const memory = /out of memory|allocation failed|Invalid array length|Invalid string length/i;
  const tests = RegExp.prototype.exec;

  const describe = (error) => {
    let text = "an error that cannot be read";
    // QuickJS throws null if there is no memory left for an error.
    if (error === null && host.nullMeansMemory) return '"memory","out of memory"';
    try {
      if (error instanceof NotEncodable) text = error.message;
      else if (error !== null && typeof error === "object") text = `${error.name}: ${error.message}`;
      else text = `threw ${typeof error === "symbol" ? "a symbol" : String(error)}`;
    } catch {
      // Reading what a submission threw may throw again.
    }
    const kind = apply(tests, memory, [text]) !== null ? "memory" : "error";
    return `"${kind}",${quote(apply(slice, text, [0, 2000]))}`;
  };

  const line = (index, content) => `[${index},${content},${host.written()}]`;

  // Most submissions are synchronous, and then so is this.
  const callNow = (subject, text, index) => {
    let content;
    try {
      const value = subject(...load(text));
      if (value !== null && typeof value === "object" && typeof value.then === "function") {
        return PromiseOf.resolve(value).then(
          (settled) => finish(settled, index),
          (error) => host.emit(line(index, describe(error))),
        );
      }
      content = `"value",${encode(value, 0)}`;
    } catch (error) {
      content = describe(error);
    }
    host.emit(line(index, content));
    return undefined;
  };

  const finish = (value, index) => {
    let content;
    try {
      content = `"value",${encode(value, 0)}`;
    } catch (error) {
      content = describe(error);
    }
    host.emit(line(index, content));
  };

  const missing = (name, subject) => {
    const kind = subject === undefined ? `the submission does not define "${name}"` : `"${name}" is not a function`;
    return `[-1,"error",${quote(kind)},0]`;
  };

  return { callNow, describe, missing, parse };
})
