// The grading process for scripts in JavaScript, as grading.py: it alone writes the verdict.
(() => {
  const { readFileSync, unlinkSync, openSync, closeSync, readSync, writeSync, writeFileSync, constants } = require("node:fs");
  const { spawn } = require("node:child_process");
  const { isBuiltin } = require("node:module");
  const { Script } = require("node:vm");
  const { encode, decode, putBack, lines, parse, write } = values;
  const indirectEval = eval;
  const exit = process.reallyExit.bind(process);
  const MAX_REPLY_BYTES = 16 * 1024 * 1024;
  const MAX_REASON = 2000;
  const MAX_FINDINGS = 1000;
  const MAX_VERDICT_BYTES = 500000;
  const [runner, ...options] = process.argv.slice(2);
  const request = parse(readFileSync("request.json", "utf8"));
  unlinkSync("request.json");
  // Otherwise this signal, which the submission can send, would open a debugger.
  process.on("SIGUSR1", () => {});
  // What a grader prints is for its author, not a verdict.
  const shown = { write: (chunk) => writeSync(2, String(chunk)) > 0, on: () => shown, once: () => shown, isTTY: false };
  Object.defineProperty(process, "stdout", { get: () => shown });
  globalThis.console = new console.Console(shown, shown);

  // The same inputs for every submission, and none that a submission could foresee.
  let seed = 2166136261;
  for (let i = 0; i < request.script.length; i++) seed = Math.imul(seed ^ request.script.charCodeAt(i), 16777619);
  Math.random = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };

  let hasAnswered = false;
  const raised = new WeakMap();

  // Long texts of the findings are cut: the sandbox lets a process write only so much.
  const cut = (value, length) => {
    if (typeof value === "string") return value.slice(0, length);
    if (Array.isArray(value)) return value.slice(0, MAX_FINDINGS).map((one) => cut(one, length));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, cut(one, length)]));
  };
  const fitting = (verdict) => {
    let data;
    for (const length of [MAX_REASON, 300, 50, 10]) {
      data = write(cut(verdict, length));
      if (data.length <= MAX_VERDICT_BYTES) break;
    }
    return data;
  };
  const finish = (kind, verdict) => {
    const data = fitting({ nonce: request.nonce, kind, ...verdict, engine: `node ${process.version}` });
    for (let done = 0; done < data.length;) {
      try {
        done += writeSync(1, data, done);
      } catch (error) {
        if (error.code !== "EAGAIN") exit(1);
      }
    }
    exit(0);
  };
  const failed = (reason) => finish("graded", { score: 0, reason: reason.slice(0, MAX_REASON) });

  // The process of the submitted code --------------------------------------------------------------
  let send;
  let receive;
  const broken = (why) => failed(`the submitted code broke the protocol: ${why}`);

  // Pipes with names: Node reads other pipes only asynchronously, and a call must return a value.
  const start = () => {
    const file = request.runner_language === "python" ? "runner.py" : "runner.js";
    writeFileSync(file, request.runner);
    const both = ["asks", "replies"].map((name) => openSync(name, constants.O_RDWR));
    const theirs = [openSync("asks", constants.O_RDONLY), openSync("replies", constants.O_WRONLY)];
    const [to, from] = [openSync("asks", constants.O_WRONLY), openSync("replies", constants.O_RDONLY)];
    spawn(runner, [...options, file], { stdio: [...theirs, "ignore"] }).on("error", () => {}).unref();
    for (const descriptor of [...both, ...theirs]) closeSync(descriptor);
    for (const name of ["asks", "replies"]) unlinkSync(name);
    const nextLine = lines(readSync, from, MAX_REPLY_BYTES);
    send = (message) => {
      const data = write(message);
      try {
        for (let done = 0; done < data.length;) done += writeSync(to, data, done);
      } catch {
        failed("the submitted code ended its process");
      }
    };
    receive = () => {
      const line = nextLine();
      if (line === undefined) failed("the submitted code ended its process, or returned more than 16 MiB");
      try {
        return Object(parse(line));
      } catch (error) {
        return broken(error.message);
      }
    };
    if (receive().protected !== true) finish("unprotected", { reason: "the code could read the grading process" });
    const names = [...request.entry_points, ...request.classes];
    const reply = ask("load", { source: request.source, names, classes: request.classes });
    if (reply.error) failed(`the submitted code cannot be loaded: ${described(reply.error)}`);
    return Object.fromEntries(names.map((name, place) => [name, entry(name, reply.value[place])]));
  };

  const described = (error) => {
    const place = Number.isInteger(error?.line) ? ` (line ${error.line} of the submission)` : "";
    return `${error?.type}: ${error?.message}${place}`;
  };
  const functions = new WeakMap();
  const callbacks = [];
  const hold = (value) => {
    if ((typeof value !== "function" && typeof value !== "object") || value === null) return undefined;
    if (functions.has(value)) {
      const of = functions.get(value);
      return { $: typeof of === "number" ? "own" : "entry", v: of };
    }
    if (typeof value !== "function") return undefined;
    callbacks.push(value);
    return { $: "callback", v: callbacks.length - 1 };
  };
  const handedOut = ({ $: tag, v: of }) => {
    if (!Number.isInteger(of)) throw new TypeError(`unknown tag ${tag}`);
    if (tag === "function") return functionOf(of);
    if (tag === "iterator") return following(of);
    if (tag === "object" && request.classes.length) return objectOf(of);
    throw new TypeError(`unknown tag ${tag}`);
  };
  // An object could be another number at each comparison: it is a text where one is needed, no number.
  const notANumber = (object) => (hint) => {
    if (hint === "string") return String(object.toString());
    throw new TypeError("an object of the submission is used as a number");
  };
  handedOut.object = (made) => {
    const isConverted = ["valueOf", "toString"].some((name) => Object.hasOwn(made, name));
    return isConverted ? Object.defineProperty(made, Symbol.toPrimitive, { value: notANumber(made) }) : made;
  };
  const safely = (value) => {
    try {
      return decode(value, handedOut);
    } catch (error) {
      return broken(error.message);
    }
  };
  let number = 0;
  const ask = (kind, message) => {
    const mine = ++number;
    send({ kind, number: mine, ...message });
    for (;;) {
      const reply = receive();
      if (reply.callback === undefined) {
        if (reply.number !== mine || !("value" in reply || "error" in reply)) broken("not the reply to the last call");
        return reply;
      }
      const callback = Number.isInteger(reply.callback) ? callbacks[reply.callback] : undefined;
      if (typeof callback !== "function") broken("an unknown function");
      const given = safely(reply.arguments);
      try {
        send({ value: encode(callback(...given), hold) });
      } catch (error) {
        send({ error: { builtin: "Exception", message: String(error?.message) } });
      }
    }
  };
  const STANDARD = { TypeError, RangeError, SyntaxError, ReferenceError, URIError, EvalError };
  const exception = (given) => {
    const Kind = (Object.hasOwn(STANDARD, given?.builtin) && STANDARD[given.builtin]) || Error;
    const error = new Kind(String(given?.message));
    if (error.name !== given?.type) error.name = String(given?.type);
    raised.set(error, described(given));
    return error;
  };
  const value = (reply) => {
    hasAnswered = true;
    if (reply.error) throw exception(reply.error);
    return safely(reply.value);
  };
  const call = (of, given) => {
    const reply = ask("call", { of, arguments: encode(given, hold), named: {} });
    try {
      for (const [place, changed] of Object.entries(Object(reply.changed))) {
        // Only a number: `given.__proto__` is an object of this process.
        if (Number.isInteger(Number(place))) putBack(given[Number(place)], safely(changed));
      }
    } catch (error) {
      broken(error.message);
    }
    if (shown !== process.stdout && reply.output) process.stdout.write(String(reply.output));
    if (reply.is_async !== true || request.runner_language !== "javascript") return value(reply);
    hasAnswered = true;
    return reply.error ? Promise.reject(exception(reply.error)) : Promise.resolve(safely(reply.value));
  };
  const functionOf = (of) => {
    const found = (...given) => call(of, given);
    functions.set(found, of);
    return found;
  };
  const entry = (name, given) => {
    if (given?.$ !== "entry") {
      hasAnswered = true;
      return safely(given);
    }
    if (!request.classes.includes(name)) return functionOf(name);
    const Class = function Class(...given) { return call(name, given); };
    functions.set(Class, name);
    return Class;
  };
  function* following(of) {
    for (let count = 1; ; count = Math.min(2 * count, 256)) {
      const reply = ask("next", { of, count });
      yield* value(reply);
      if (reply.failure) throw exception(reply.failure);
      if (reply.is_end !== false) return;
    }
  }
  const objectOf = (of) => {
    const found = new Proxy({}, {
      get: (_, name) => {
        if (name === Symbol.iterator) return () => value(ask("special", { of, name: "__iter__", arguments: [], named: {} }));
        if (name === Symbol.toPrimitive) return notANumber(found);
        return typeof name === "symbol" || name === "then" ? undefined : value(ask("get", { of, name }));
      },
      set: (_, name, given) => {
        value(ask("set", { of, name, value: encode(given, hold) }));
        return true;
      },
    });
    functions.set(found, of);
    return found;
  };

  // The script -------------------------------------------------------------------------------------
  const scriptLines = request.script.split("\n");
  const placeOf = (error) => {
    const found = /grader\.js:(\d+)/.exec(String(error?.stack));
    const line = found && scriptLines[Number(found[1]) - 1];
    return line ? `line ${found[1]}, ${line.trim().slice(0, 200)}: ` : "";
  };
  const reasonOf = (error) => {
    const place = placeOf(error);
    const isObject = error !== null && typeof error === "object";
    if (isObject && (error.code === "ERR_ASSERTION" || error.name === "AssertionError")) return `${place}${error.message}`;
    const source = [error, error?.cause].find((one) => Object(one) === one && raised.has(one));
    if (source) return `${place}the submitted code raised ${raised.get(source)}`;
    const text = `${place}${isObject ? `${error.name}: ${error.message}` : String(error)}`;
    const isMistake = error instanceof ReferenceError || error instanceof SyntaxError || error?.code === "MODULE_NOT_FOUND";
    if (hasAnswered && !isMistake) return `${text} (with what the submitted code returned)`;
    return finish("error", { reason: `the grader failed: ${text}`.slice(0, MAX_REASON) });
  };

  const returned = (given) => {
    let verdict = typeof given === "object" && given !== null ? { ...given } : { score: given };
    if (typeof verdict.score === "boolean") verdict.score = verdict.score ? 100 : 0;
    const { score } = verdict;
    const extra = Object.keys(verdict).filter((key) => !["score", "findings", "reason"].includes(key));
    if (extra.length) finish("error", { reason: `grade returned an object with ${extra}: its keys are score, findings and reason` });
    if (typeof score !== "number" || !(score >= 0 && score <= 100)) {
      finish("error", { reason: `grade returned ${String(score).slice(0, 100)}: a boolean or a score of 0 to 100` });
    }
    finish("graded", verdict);
  };

  // Only when nothing is left to do: an assertion may still wait in a promise or a timer.
  const finishAtEnd = (verdict) => process.once("beforeExit", () => finish("graded", verdict));

  const tests = [];
  const each = async () => {
    const findings = [];
    for (const [criterion, test] of tests) {
      let failure;
      try {
        await (test.length ? new Promise((done, fail) => test((error) => (error ? fail(error) : done()))) : test());
      } catch (error) {
        failure = reasonOf(error).slice(0, MAX_REASON);
      }
      findings.push({ criterion, passed: failure === undefined, reason: failure ?? "passes" });
    }
    const passed = findings.filter((finding) => finding.passed).length;
    const score = Math.floor((passed * 100) / findings.length);
    finishAtEnd({ score, reason: `${passed} of ${findings.length} tests pass`, findings });
  };

  const submissionOf = (given, entries) => {
    const files = (all) => Object.fromEntries(Object.entries(all ?? {}).map(([path, file]) => {
      const content = Buffer.from(file.base64, "base64");
      return [path, { content, text: content.toString("utf8"), is_executable: Boolean(file.is_executable) }];
    }));
    const lists = { messages: given.messages ?? [], steps: given.steps ?? [], changes: given.changes ?? [] };
    const call = (name, ...args) => entries[name](...args);
    return { ...given, ...lists, files: files(given.files), usage: given.usage ?? {}, call };
  };

  const main = async () => {
    const entries = request.entry_points.length || request.classes.length ? start() : {};
    const submission = submissionOf(request.submission, entries);
    const add = (name, test) => { tests.push([String(name), test]); };
    const globals = { submission, assert: require("node:assert"), test: add, it: add, describe: (_, body) => body() };
    const requireOf = (name) => {
      if (/^(?:\.\/)?solution(?:\.js)?$/.test(name)) return entries;
      // Nothing from the folder, which the submission can write to.
      if (isBuiltin(name)) return require(name);
      throw Object.assign(new Error(`cannot find the module ${name}`), { code: "MODULE_NOT_FOUND" });
    };
    Object.assign(globalThis, globals, { require: requireOf }, entries);
    new Script(request.script, { filename: "grader.js" }).runInThisContext();
    const find = (name) => {
      const found = indirectEval(`typeof ${name} === "undefined" ? undefined : ${name}`);
      // An entry point may have that name: then it is not the grader's.
      return Object.hasOwn(entries, name) && found === entries[name] ? undefined : found;
    };
    const [grade, check] = [find("grade"), find("check")];
    if (typeof grade === "function") returned(await grade(submission));
    if (tests.length) return each();
    if (typeof check === "function" && request.entry_points.length) {
      await check(...Object.values(entries).slice(0, Math.max(1, check.length)));
      return finishAtEnd({ score: 100, reason: "every check holds" });
    }
    const checksNothing = () => finish("error", { reason: "the script checks nothing: define grade(submission)" });
    if (!/\bassert\b|\bthrow\b/.test(request.script)) checksNothing();
    return process.once("beforeExit", () => {
      if (Object.keys(entries).length && !hasAnswered) checksNothing();
      finish("graded", { score: 100, reason: "every check holds" });
    });
  };
  process.on("uncaughtException", (error) => failed(reasonOf(error)));
  main().catch((error) => failed(reasonOf(error)));
})();
