// The process of the submitted code, as grading_runner.py. It holds nothing of the grader.
(() => {
  const { readSync, writeSync, openSync, closeSync } = require("node:fs");
  const { createRequire } = require("node:module");
  const { Script } = require("node:vm");
  const { encode, decode, isMutable, isPromise, lines, parse, write } = values;
  const indirectEval = eval;
  const MAX_MESSAGE = 2000;
  const exit = process.reallyExit.bind(process);
  const held = [];
  let classes = [];
  let space = {};

  const send = (message) => {
    const data = write(message);
    for (let done = 0; done < data.length;) done += writeSync(1, data, done);
  };
  const nextLine = lines(readSync, 0, Infinity);
  const receive = () => {
    const line = nextLine();
    if (line === undefined) exit(0);
    return parse(line);
  };

  // Asked before the submission runs.
  const isProtected = () => {
    try {
      closeSync(openSync(`/proc/${process.ppid}/mem`, "r"));
      return false;
    } catch {
      return true;
    }
  };

  const describe = (error) => {
    const found = { type: "thrown", builtin: "Exception", message: "", arguments: [], line: null };
    try {
      const isError = error !== null && typeof error === "object" && "message" in error;
      found.message = String(isError ? error.message : error).slice(0, MAX_MESSAGE);
      if (isError) {
        found.type = String(error.name);
        const standard = [TypeError, RangeError, SyntaxError, ReferenceError, URIError, EvalError];
        found.builtin = standard.find((kind) => error instanceof kind)?.name ?? "Error";
        const line = /submission\.js:(\d+)/.exec(String(error.stack));
        found.line = line ? Number(line[1]) : null;
      }
      found.arguments = [found.message];
    } catch {
      // Reading what a submission threw may throw again.
    }
    return found;
  };

  const hold = (value) => {
    const isObject = typeof value === "object";
    let tag;
    if (typeof value === "function") tag = "function";
    else if (isObject && classes.includes(value.constructor?.name)) tag = "object";
    else if (isObject && typeof value.next === "function" && typeof value[Symbol.iterator] === "function") tag = "iterator";
    else return undefined;
    held.push(value);
    return { $: tag, v: held.length - 1 };
  };
  const received = ({ $: tag, v: number }) => {
    if (tag === "own") return held[number];
    if (tag === "entry") return space[number];
    return (...given) => {
      send({ callback: number, arguments: encode(given, hold) });
      for (;;) {
        const reply = receive();
        if (reply.kind !== undefined) serveNow(reply);
        else if (reply.error) throw new Error(reply.error.message);
        else return decode(reply.value, received);
      }
    };
  };

  const isModule = (source) => {
    try {
      new Script(source);
      return false;
    } catch {
      return /^\s*(?:export\b|import\b)|\bawait\b/m.test(source);
    }
  };
  const load = async ({ source, names, classes: given }) => {
    classes = given;
    if (isModule(source)) {
      const text = Buffer.from(source).toString("base64");
      const exported = names.map((name) => `${name} as "submitted ${name}"`).join(", ");
      let loaded;
      try {
        loaded = await import(`data:text/javascript;base64,${Buffer.from(`${source}\n;export { ${exported} };`).toString("base64")}`);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        loaded = await import(`data:text/javascript;base64,${text}`);
      }
      space = Object.fromEntries(names.map((name) => [name, loaded[`submitted ${name}`] ?? loaded[name]]));
    } else {
      const module = { exports: {} };
      Object.assign(globalThis, { module, exports: module.exports, require: createRequire("/desk/submission.js") });
      new Script(source, { filename: "submission.js" }).runInThisContext();
      const find = (name) => indirectEval(`typeof ${name} === "undefined" ? undefined : ${name}`) ?? module.exports[name];
      space = Object.fromEntries(names.map((name) => [name, find(name)]));
    }
    const missing = names.find((name) => space[name] === undefined);
    if (missing) throw new ReferenceError(`it does not define "${missing}"`);
    return { value: names.map((name) => (typeof space[name] === "function" ? { $: "entry" } : encode(space[name], hold))) };
  };

  const called = (request, call) => {
    const given = decode(request.arguments, received);
    const named = decode(request.named, received);
    if (Object.keys(named).length) given.push(named);
    const text = (value) => write(encode(value, (one) => (typeof one === "function" ? { $: "same" } : undefined))).toString();
    const before = given.map((one) => (isMutable(one) ? text(one) : ""));
    const finish = (reply) => {
      reply.changed = {};
      given.forEach((one, place) => {
        if (isMutable(one) && text(one) !== before[place]) reply.changed[place] = encode(one, hold);
      });
      return reply;
    };
    try {
      const value = call(given);
      if (isPromise(value)) {
        return Promise.resolve(value).then(
          (one) => finish({ is_async: true, value: encode(one, hold) }),
          (error) => finish({ is_async: true, error: describe(error) }),
        );
      }
      return finish({ value: encode(value, hold) });
    } catch (error) {
      return finish({ error: describe(error) });
    }
  };

  const following = (iterator, count) => {
    const found = [];
    const reply = { value: found };
    try {
      while (found.length < count) {
        const { value, done } = iterator.next();
        if (done) break;
        found.push(encode(value, hold));
      }
    } catch (error) {
      reply.failure = describe(error);
    }
    return { ...reply, is_end: found.length < count };
  };

  const special = (request) => {
    const subject = held[request.of];
    const name = request.name;
    if (name === "__iter__") return { value: hold(subject[Symbol.iterator]()) };
    if (name === "__len__") return { value: subject.length ?? subject.size };
    if (name === "__eq__") return called(request, ([other]) => subject === other);
    if (name === "__str__" || name === "__repr__") return { value: String(subject) };
    if (name === "__bool__") return { value: true };
    throw new TypeError(`objects of JavaScript have no ${name}`);
  };

  const answer = (request) => {
    const { kind, of, name } = request;
    if (kind === "load") return load(request);
    if (kind === "next") return following(held[of], request.count);
    if (kind === "call") {
      const target = typeof of === "number" ? held[of] : space[of];
      return called(request, (given) => (classes.includes(of) ? Reflect.construct(target, given) : target(...given)));
    }
    if (kind === "special") return special(request);
    const subject = held[of];
    if (kind === "set") {
      subject[name] = decode(request.value, received);
      return { value: null };
    }
    const value = subject[name];
    return { value: encode(typeof value === "function" ? value.bind(subject) : value, hold) };
  };

  let printed = "";
  const serveNow = (request) => {
    printed = "";
    const finish = (reply) => send({ number: request.number, output: printed.slice(0, 100000), ...reply });
    try {
      const reply = answer(request);
      if (isPromise(reply)) return reply.then(finish, (error) => finish({ error: describe(error) }));
      finish(reply);
    } catch (error) {
      finish({ error: describe(error) });
    }
    return undefined;
  };

  const print = (chunk) => {
    if (printed.length < 100000) printed += String(chunk);
    return true;
  };
  const stream = { write: print, isTTY: false, on: () => stream, once: () => stream, end: print };
  Object.defineProperty(process, "stdout", { get: () => stream });
  globalThis.console = new console.Console(stream, { write: () => true, on: () => stream, once: () => stream });

  const main = async () => {
    send({ protected: isProtected() });
    for (;;) await serveNow(receive());
  };
  process.on("unhandledRejection", () => {});
  main();
})();
