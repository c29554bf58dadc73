// Calls a JavaScript function with every input and emits one line per result. It runs before any
// untrusted code and keeps the built-ins it needs: a submission that changes them gets the results
// that it would get in Node without Arena.
((host) => {
  "use strict";
  const MAX_DEPTH = 200;
  const { apply, ownKeys, getPrototypeOf } = Reflect;
  const { stringify, parse } = JSON;
  const { isArray } = Array;
  const { isFinite, isInteger, isSafeInteger: isSafe } = Number;
  const { is, keys: keysOf, fromEntries } = Object;
  const plainPrototype = Object.prototype;
  const { propertyIsEnumerable, toString: tagOf } = Object.prototype;
  const toISOString = Date.prototype.toISOString;
  const forEachMember = Set.prototype.forEach;
  const forEachEntry = Map.prototype.forEach;
  const bigText = BigInt.prototype.toString;
  const { slice, includes } = String.prototype;
  const toText = String;
  const sizeOfSet = Object.getOwnPropertyDescriptor(Set.prototype, "size").get;
  const sizeOfMap = Object.getOwnPropertyDescriptor(Map.prototype, "size").get;
  const SetOf = Set;
  const MapOf = Map;

  class NotEncodable extends Error {}

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
    // Beyond 2 ** 53 the shortest digits are not the exact integer: the reader must take a float.
    return isInteger(value) && !isSafe(value) && value < 1e21 && value > -1e21 ? `${value}.0` : `${value}`;
  };

  const encode = (value, depth) => {
    switch (typeof value) {
      case "undefined": return '{"$arena":"undefined"}';
      case "boolean": return value ? "true" : "false";
      case "number": return encodeNumber(value);
      case "string": return stringify(value);
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
    if (answers(toISOString, value)) return stringify(apply(toISOString, value, []));
    const tag = apply(tagOf, value, []);
    if (tag !== "[object Object]" && tag !== "[object Arguments]") {
      const prototype = getPrototypeOf(value);
      if (prototype !== null && prototype !== plainPrototype) {
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
      const name = stringify(key);
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
      case "object": return fromEntries(untag(value.entries));
    }
    const keys = keysOf(value);
    for (let i = 0; i < keys.length; i++) value[keys[i]] = untag(value[keys[i]]);
    return value;
  };

  // JSON.parse, with the tags; text without any is not walked again.
  const load = (text) => (apply(includes, text, ['"$arena"']) ? untag(parse(text)) : parse(text));

  const memory = /out of memory|allocation failed|Invalid array length|Invalid string length/i;
  const tests = RegExp.prototype.exec;

  const describe = (error) => {
    let text = "an error that cannot be read";
    try {
      if (error instanceof NotEncodable) text = error.message;
      else if (error !== null && typeof error === "object") text = `${error.name}: ${error.message}`;
      else text = `threw ${typeof error === "symbol" ? "a symbol" : toText(error)}`;
    } catch {
      // Reading what a submission threw may throw again.
    }
    const kind = apply(tests, memory, [text]) !== null ? "memory" : "error";
    return `"${kind}",${stringify(apply(slice, text, [0, 2000]))}`;
  };

  const line = (index, content) => `[${index},${content},${host.written()}]`;

  // Most submissions are synchronous, and then so is this.
  const callNow = (subject, text, index) => {
    let content;
    try {
      const value = apply(subject, undefined, load(text));
      if (value !== null && typeof value === "object" && typeof value.then === "function") {
        return callLater(value, index);
      }
      content = `"value",${encode(value, 0)}`;
    } catch (error) {
      content = describe(error);
    }
    host.emit(line(index, content));
    return undefined;
  };

  // `await` does not look at Promise.prototype, which a submission may have changed.
  const callLater = async (promise, index) => {
    let content;
    try {
      content = `"value",${encode(await promise, 0)}`;
    } catch (error) {
      content = describe(error);
    }
    host.emit(line(index, content));
  };

  const missing = (name, subject) => {
    const kind = subject === undefined ? `the submission does not define "${name}"` : `"${name}" is not a function`;
    return `[-1,"error",${stringify(kind)},0]`;
  };

  return { callNow, describe, missing, parse };
})
