// Plain Node, without any of Arena: evaluates a script, calls its function with every input and prints
// the results on a descriptor, in an encoding of its own. `node reference.js <descriptor> < request`
const { writeSync, readFileSync } = require("node:fs");
const vm = require("node:vm");
const { types } = require("node:util");
const { isSet, isMap, isDate } = types;
const { getPrototypeOf, prototype: plain } = Object;
const tagOf = Object.prototype.toString;
const { apply, ownKeys, getOwnPropertyDescriptor } = Reflect;
const unitAt = String.prototype.charCodeAt;
const eachOfMap = Map.prototype.forEach;
const eachOfSet = Set.prototype.forEach;
const iso = Date.prototype.toISOString;
const bigText = BigInt.prototype.toString;
const text = String;
const PlainPromise = Promise;
const immediately = setImmediate;
const { isArray } = Array;
const bytesFrom = Buffer.from;
const exit = process.exit.bind(process);
const bits = new BigUint64Array(1);
const float = new Float64Array(bits.buffer);

class NoValue extends Error {}

const list = (length, item) => {
  let all = "";
  for (let i = 0; i < length; i++) all += (i ? "," : "") + item(i);
  return `[${all}]`;
};

const shownString = (value) => `["string",${list(value.length, (i) => apply(unitAt, value, [i]))}]`;

const shown = (value) => {
  switch (typeof value) {
    case "undefined": return '["undefined"]';
    case "boolean": return `["boolean",${value}]`;
    case "bigint": return `["integer","${apply(bigText, value, [])}"]`;
    case "string": return shownString(value);
    case "number":
      float[0] = value;
      return `["number","${apply(bigText, bits[0], [16])}"]`;
    case "object": return value === null ? '["null"]' : shownObject(value);
    default: throw new NoValue();
  }
};

const shownObject = (value) => {
  if (isArray(value)) return `["array",${list(value.length, (i) => shown(value[i]))}]`;
  let all = "";
  const add = (item) => {
    all += (all ? "," : "") + item;
  };
  if (isSet(value)) {
    apply(eachOfSet, value, [(member) => add(shown(member))]);
    return `["set",[${all}]]`;
  }
  if (isMap(value)) {
    apply(eachOfMap, value, [(item, key) => add(`[${shown(key)},${shown(item)}]`)]);
    return `["map",[${all}]]`;
  }
  if (isDate(value) && value - value === 0) return shownString(apply(iso, value, []));
  const tag = apply(tagOf, value, []);
  const prototype = getPrototypeOf(value);
  const isPlain = prototype === null || prototype === plain;
  if (tag !== "[object Object]" && tag !== "[object Arguments]" && !isPlain) throw new NoValue();
  const keys = ownKeys(value);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (typeof key === "string" && getOwnPropertyDescriptor(value, key)?.enumerable) {
      add(`[${shownString(key)},${shown(value[key])}]`);
    }
  }
  return `["object",[${all}]]`;
};

const failure = (error) => {
  if (error instanceof NoValue) return '["none"]';
  const isObject = error !== null && typeof error === "object";
  return `["error",${shownString(isObject ? `${error.name}: ${error.message}` : `threw ${text(error)}`)}]`;
};

// From the event loop, as a script: with empty queues.
const call = (subject, input) =>
  new PlainPromise((resolve) => {
    immediately(async () => {
      try {
        const value = apply(subject, undefined, input);
        const isThenable = value !== null && typeof value === "object" && typeof value.then === "function";
        resolve(shown(isThenable ? await value : value));
      } catch (error) {
        resolve(failure(error));
      }
    });
  });

const main = async () => {
  const descriptor = Number(process.argv[2]);
  const { source, inputs } = JSON.parse(readFileSync(0, "utf8"));
  let results = "";
  vm.runInThisContext(source, { filename: "submission.js" });
  const subject = vm.runInThisContext("f");
  for (let i = 0; i < inputs.length; i++) {
    results += (i ? "," : "") + (await call(subject, inputs[i]));
  }
  const bytes = bytesFrom(`[${results}]`, "latin1");
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
  exit(0);
};

main();
