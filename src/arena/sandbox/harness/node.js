// Around calls.js in Node: one submission in V8, then the process exits.
(() => {
  const fs = require("node:fs");
  const { createRequire } = require("node:module");
  const REQUEST = 3;
  const RESULT = 4;
  const { writeSync, readSync, closeSync } = fs;
  const reallyExit = process.reallyExit.bind(process);
  const { Buffer: Bytes } = globalThis;
  const indirectEval = eval;
  const makeCalls = MAKE_CALLS;

  const readAll = () => {
    const pieces = [];
    for (;;) {
      const piece = Bytes.allocUnsafe(1 << 16);
      const length = readSync(REQUEST, piece, 0, piece.length, null);
      if (length === 0) break;
      pieces.push(piece.subarray(0, length));
    }
    closeSync(REQUEST);
    return Bytes.concat(pieces).toString("utf8");
  };

  const emit = (text) => {
    const bytes = Bytes.from(`${text}\n`, "latin1");
    let done = 0;
    while (done < bytes.length) done += writeSync(RESULT, bytes, done);
  };

  let count = 0;
  const plainWrite = process.stdout.write.bind(process.stdout);
  const counted = (chunk, ...rest) => {
    count += Bytes.byteLength(typeof chunk === "string" ? chunk : Bytes.from(chunk));
    return plainWrite(chunk, ...rest);
  };
  process.stdout.write = counted;
  const calls = makeCalls({ emit, written: () => count });

  const fail = (error) => {
    emit(`[-1,${calls.describe(error)},${count}]`);
    reallyExit(0);
  };

  const asModule = /^\s*(?:export\s|import\s*(?:[\w*{"']|$))/m;

  const load = async (source, name) => {
    if (asModule.test(source)) {
      const space = await import(`data:text/javascript;base64,${Bytes.from(source).toString("base64")}`);
      return space[name] ?? space.default;
    }
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
      subject = await load(request.source, name);
    } catch (error) {
      fail(error);
    }
    if (typeof subject !== "function") {
      emit(calls.missing(name, subject));
      reallyExit(0);
    }
    for (let i = 0; i < request.inputs.length; i++) {
      const pending = calls.callNow(subject, request.inputs[i], i);
      if (pending !== undefined) await pending;
    }
    closeSync(RESULT);
    reallyExit(0);
  };

  process.on("uncaughtException", (error) => {
    writeSync(2, `${calls.describe(error)}\n`);
    reallyExit(1);
  });
  // Everything above is compiled already; now wait for a request.
  main();
})();
