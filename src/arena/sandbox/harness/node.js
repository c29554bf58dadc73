// Around calls.js in Node: one submission, then the process exits. What is not needed is not loaded:
// the start of this process is nearly all that a submission costs.
(() => {
  const { writeSync, readSync, closeSync } = require("node:fs");
  const { createRequire } = require("node:module");
  const { Script } = require("node:vm");
  const REQUEST = 3;
  const RESULT = 4;
  const { apply } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor } = Object;
  const { allocUnsafe, byteLength, concat, from: bytesFrom } = Buffer;
  const Octets = Uint8Array;
  const encoded = Buffer.prototype.toString;
  const indirectEval = eval;
  const immediately = setImmediate;
  const reallyExit = process.reallyExit.bind(process);
  const makeCalls = MAKE_CALLS;

  const readAll = () => {
    const pieces = [];
    for (;;) {
      const piece = allocUnsafe(1 << 16);
      const length = readSync(REQUEST, piece, 0, piece.length, null);
      if (length === 0) break;
      pieces.push(piece.subarray(0, length));
    }
    closeSync(REQUEST);
    return concat(pieces).toString("utf8");
  };

  const emit = (text) => {
    const bytes = bytesFrom(`${text}\n`, "utf8");
    const length = byteLength(bytes);
    let done = 0;
    while (done < length) done += writeSync(RESULT, bytes, done);
  };

  // Counts what is printed, so that each case gets its own part of the output. The stream is made
  // when a submission first uses it, as without Arena: it loads a quarter of Node's own modules.
  let count = 0;
  let stream;
  const property = getOwnPropertyDescriptor(process, "stdout");
  const counted = () => {
    if (stream !== undefined) return stream;
    stream = apply(property.get, process, []);
    const plainWrite = stream.write;
    stream.write = function write(chunk, encoding, callback) {
      if (typeof chunk === "string") count += byteLength(chunk, encoding);
      else if (chunk instanceof Octets) count += chunk.byteLength;
      return apply(plainWrite, stream, [chunk, encoding, callback]);
    };
    return stream;
  };
  defineProperty(process, "stdout", { ...property, get: counted });
  const calls = makeCalls({ emit, written: () => count });

  const fail = (error) => {
    emit(`[-1,${calls.describe(error)},${count}]`);
    reallyExit(0);
  };

  // Only a hint: such a line may be part of a comment or of a text.
  const asModule = /^\s*(?:export\b|import\b)|\bawait\b|\bimport\.meta\b/m;

  const isModule = (source) => {
    if (!asModule.test(source)) return false;
    try {
      new Script(source);
      return false;
    } catch {
      return true;
    }
  };

  const importSource = (source) => {
    const text = apply(encoded, bytesFrom(source), ["base64"]);
    return import(`data:text/javascript;base64,${text}`);
  };

  const loadModule = async (source, name) => {
    let space;
    try {
      // The function need not be exported. This error comes before anything has run.
      space = await importSource(`${source}\n;export { ${name} as "submitted function" };`);
    } catch (error) {
      if (!(error instanceof SyntaxError) || !/^Export .* is not defined in module$/.test(error.message)) throw error;
      space = await importSource(source);
    }
    return space["submitted function"] ?? space[name] ?? space.default;
  };

  const load = (source, name) => {
    if (isModule(source)) return loadModule(source, name);
    const module = { exports: {} };
    Object.assign(globalThis, { module, exports: module.exports, require: createRequire("/desk/submission.js") });
    const tail = `\n;typeof ${name} === "undefined" ? undefined : ${name}`;
    const subject = indirectEval(source + tail);
    if (typeof subject === "function") return subject;
    return typeof module.exports === "function" ? module.exports : (module.exports[name] ?? subject);
  };

  const main = async () => {
    const request = calls.parse(readAll());
    const name = request.function;
    let subject;
    try {
      subject = load(request.source, name);
      if (typeof subject === "object") subject = await subject;
    } catch (error) {
      fail(error);
    }
    if (typeof subject !== "function") {
      emit(calls.missing(name, subject));
      reallyExit(0);
    }
    callFrom(0, subject, request.inputs);
  };

  const callFrom = (first, subject, inputs) => {
    for (let i = first; i < inputs.length; i++) {
      const pending = calls.callNow(subject, inputs[i], i);
      if (pending !== undefined) {
        callAfter(pending, i + 1, subject, inputs);
        return;
      }
    }
    closeSync(RESULT);
    reallyExit(0);
  };

  // Every case starts with empty queues, as a script does: in a microtask, `process.nextTick` would
  // come later than promises.
  const callAfter = async (pending, next, subject, inputs) => {
    await pending;
    immediately(() => callFrom(next, subject, inputs));
  };

  // Everything above is compiled already; now wait for a request.
  main();
})();
