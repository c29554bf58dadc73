// Around calls.js in QuickJS: evaluates the submission in the global scope and calls its function.
((makeCalls, emit, print, indirectEval) => {
  let count = 0;
  const show = (value) => {
    if (typeof value === "string") return value;
    const text = typeof value === "object" ? JSON.stringify(value) : undefined;
    return text === undefined ? String(value) : text;
  };
  const write = (stream) => (...values) => {
    const written = print(stream, values.map(show).join(" "));
    if (stream === 1) count += written;
  };
  const out = write(1);
  const err = write(2);
  globalThis.console = { log: out, info: out, debug: out, warn: err, error: err, trace: err };
  const calls = makeCalls({ emit, written: () => count, nullMeansMemory: true });
  return (requestText) => {
    const request = calls.parse(requestText);
    const { source, inputs } = request;
    const name = request.function;
    let subject;
    try {
      subject = indirectEval(`${source}\n;typeof ${name} === "undefined" ? undefined : ${name}`);
    } catch (error) {
      emit(`[-1,${calls.describe(error)},0]`);
      return;
    }
    if (typeof subject !== "function") {
      emit(calls.missing(name, subject));
      return;
    }
    const from = (index) => {
      for (let i = index; i < inputs.length; i++) {
        const pending = calls.callNow(subject, inputs[i], i);
        if (pending !== undefined) {
          pending.then(() => from(i + 1));
          return;
        }
      }
    };
    from(0);
  };
})
