"""The grading process: runs a grader's script, and writes the only verdict.

Nobody but this process knows the nonce of the verdict, and no other process can read or write its
memory: it was started from a file without read permission, which Linux answers with a process that
cannot be inspected. The submitted code runs in a process of its own (`grading_runner.py`).
"""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import random
import signal
import sys
import time
import types
from typing import Any

from arena.sandbox.harness.grading_code import Code, Failed, Unprotected

REQUEST = "request.json"
MAX_REASON = 2000
MAX_FINDINGS = 1000
MAX_VERDICT_BYTES = 500_000
"""Half of what the sandbox lets a process write."""
VARIABLE_ARGUMENTS = 0x04
"""The flag of a function with `*args`."""
MISTAKES = (NameError, ImportError, SyntaxError)
"""Always the grader's own. Any other exception may come from what the submission returned."""


class File:
    """A file that the agent left."""

    def __init__(self, content: bytes, is_executable: bool) -> None:
        self.content = content
        self.is_executable = is_executable

    @property
    def text(self) -> str:
        """The content as text; bytes that are not UTF-8 are replaced."""
        return self.content.decode("utf-8", errors="replace")


class Record:
    """A mapping whose keys are attributes too."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.__dict__.update(fields)

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __repr__(self) -> str:
        return repr(self.__dict__)


class Grading:
    """One run of a grader."""

    def __init__(self, request: dict[str, Any], channel: int) -> None:
        self._request = request
        self._channel = channel
        self._script: str = request["script"]
        self._lines = self._script.splitlines()
        self._is_one_check = True
        self.code: Code | None = None

    def run(self) -> None:
        """Grade, and end with the verdict."""
        # The same inputs for every submission, and none that a submission could foresee.
        random.seed(hashlib.sha256(self._script.encode("utf-8", "replace")).digest())
        self._limit_time()
        entries: dict[str, Any] = {}
        if self._request["entry_points"] or self._request["classes"]:
            self.code = Code(self._request, self._on_failure)
            try:
                entries = self.code.start()
            except Unprotected:
                self.finish("unprotected", reason="the code could read the grading process")
        self._provide(entries)
        try:
            self._grade(entries)
        except BaseException as error:
            self._failed(error)

    def finish(self, kind: str, **verdict: Any) -> None:
        """Write the verdict and end; nothing runs after it."""
        document = {"nonce": self._request["nonce"], "kind": kind, **verdict}
        document["engine"] = f"python {sys.version.split()[0]}"
        data = fitting(document).encode() + b"\n"
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        while data:
            data = data[os.write(self._channel, data) :]
        os._exit(0)

    def _on_failure(self, reason: str) -> None:
        # At once: no `except:` of the grader can turn it into something else.
        if self._is_one_check:
            self.finish("graded", score=0, reason=reason)

    def _limit_time(self) -> None:
        """A grader that computes too long ends with a verdict of its own."""
        seconds = self._request["grader_seconds"]

        def check(_number: int, _frame: object) -> None:
            # The submission can send signals too: only the clock counts.
            if time.process_time() < seconds:
                return
            if self.code is not None and self.code.is_waiting:
                self.finish("graded", score=0, reason="over the limit: too many calls back")
            if self.code is not None and self.code.has_answered:
                # A value may take any time to look at: an endless one must not avoid its verdict.
                used = f"more than {seconds:g} s with what the submitted code returned"
                self.finish("graded", score=0, reason=f"over the limit: the grader took {used}")
            self.finish("error", reason=f"the grader took more than {seconds:g} s")

        signal.signal(signal.SIGVTALRM, check)
        # An interrupt would be an exception of the grader: as with any other signal, it ends.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.1)

    def _provide(self, entries: dict[str, Any]) -> None:
        submission = submission_of(self._request["submission"])
        submission.call = lambda name, *given, **named: entries[name](*given, **named)
        self._space: dict[str, Any] = {"__name__": "grader", "submission": submission, **entries}
        # Tests often begin with `from solution import add`.
        module = sys.modules["solution"] = types.ModuleType("solution")
        module.__dict__.update(entries)

    def _grade(self, entries: dict[str, Any]) -> None:
        if "unittest.main" in self._script:
            import unittest

            # It would look for the tests elsewhere, and end the process.
            unittest.main = _do_nothing  # pyright: ignore[reportAttributeAccessIssue]
        exec(compile(self._script, "grader.py", "exec", dont_inherit=True), self._space)
        # An entry point may have one of these names: then it is not the grader's.
        grade, check = (
            None if self._space.get(name) is entries.get(name) else self._space.get(name)
            for name in ("grade", "check")
        )
        tests = self._tests(is_helped=callable(check))
        if callable(grade):
            self._returned(self._awaited(grade(self._space["submission"])))
        elif tests:
            self._each(tests)
        elif callable(check) and entries:
            self._awaited(check(*_arguments(check, list(entries.values()))))
        elif not self._has_checked():
            self.finish("error", reason="the script checks nothing: define grade(submission)")
        self.finish("graded", score=100, reason="every check holds")

    def _awaited(self, value: Any) -> Any:
        """What an async function returns in the end."""
        if isinstance(value, types.CoroutineType):
            import asyncio

            return asyncio.run(value)
        if isinstance(value, (types.GeneratorType, types.AsyncGeneratorType)):
            self.finish("error", reason="a check is a generator: nothing of it was executed")
        return value

    def _has_checked(self) -> bool:
        """Whether a check was executed where the script itself is all there is."""
        import ast

        tree = ast.parse(self._script)
        checks = (ast.Assert, ast.Raise)
        if not any(isinstance(node, checks) for node in ast.walk(tree)):
            return False
        if self.code is not None:
            return self.code.has_answered
        functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
        own = {node.name for node in ast.walk(tree) if isinstance(node, functions[:2])}
        pending: list[ast.AST] = [tree]
        while pending:
            node = pending.pop()
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(node, checks) or (isinstance(called, ast.Name) and called.id in own):
                return True
            if not isinstance(node, functions):
                pending += ast.iter_child_nodes(node)
        return False

    def _tests(self, *, is_helped: bool) -> list[tuple[str, Any]]:
        """Functions named test_…, and the methods of test cases.

        Beside a `check` (`is_helped`), functions that need arguments are helpers of it.
        """
        found: list[tuple[str, Any]] = []
        for name, value in list(self._space.items()):
            if name.startswith("test") and isinstance(value, types.FunctionType):
                needed = value.__code__.co_argcount - len(value.__defaults__ or ())
                if not (needed and is_helped):
                    found.append((name, value))
        unittest: Any = sys.modules.get("unittest")
        for name, value in list(self._space.items()) if unittest else ():
            if isinstance(value, type) and issubclass(value, unittest.TestCase):
                for method in unittest.TestLoader().getTestCaseNames(value):
                    # A suite of one: it also calls setUpClass.
                    found.append((f"{name}.{method}", unittest.TestSuite([value(method)]).debug))
        return found

    def _each(self, tests: list[tuple[str, Any]]) -> None:
        """The share of the tests that pass."""
        self._is_one_check = False
        findings: list[dict[str, Any]] = []
        unittest: Any = sys.modules.get("unittest")
        for name, test in tests:
            reason = None
            try:
                if self.code is not None:
                    self.code.restart()
                self._awaited(test())
            except BaseException as error:
                if unittest and isinstance(error, unittest.SkipTest):
                    continue
                reason = self._reason(error)
            if self.code is not None and self.code.ended is not None:
                # Whatever the test made of it: the code did not survive it.
                reason = self.code.ended
            shown = "passes" if reason is None else reason
            findings.append({"criterion": name, "passed": reason is None, "reason": shown})
        if not findings:
            self.finish("error", reason="the script checks nothing: every test is skipped")
        passed = sum(finding["passed"] for finding in findings)
        score = passed * 100 // len(findings)
        reason = f"{passed} of {len(findings)} tests pass"
        self.finish("graded", score=score, reason=reason, findings=findings[:MAX_FINDINGS])

    def _returned(self, value: Any) -> None:
        """The verdict of `grade`: a bool, a score, or both with findings."""
        if isinstance(value, bool):
            value = 100 if value else 0
        verdict = dict(value) if isinstance(value, dict) else {"score": value}
        if isinstance(verdict.get("score"), bool):
            verdict["score"] = 100 if verdict["score"] else 0
        if "score" not in verdict or not verdict.keys() <= {"score", "findings", "reason"}:
            reason = f"grade returned an object with {sorted(map(str, verdict))}"
            self.finish("error", reason=f"{reason}: its keys are score, findings and reason")
        score = verdict["score"]
        if type(score) not in (int, float) or not 0 <= score <= 100:
            shown = repr(score)[:100]
            self.finish("error", reason=f"grade returned {shown}: a bool or a score of 0 to 100")
        try:
            json.dumps(verdict)
        except (TypeError, ValueError, RecursionError) as error:
            self.finish("error", reason=f"grade returned what JSON cannot hold: {error}")
        self.finish("graded", **verdict)

    def _failed(self, error: BaseException) -> None:
        """The verdict where the script raised."""
        self.finish("graded", score=0, reason=self._reason(error))

    def _reason(self, error: BaseException) -> str:
        """Why a check failed; ends with an error if the grader itself is at fault."""
        if isinstance(error, Failed):
            return str(error)
        place = self._place(error)
        if isinstance(error, AssertionError):
            return f"{place}{error}"[:MAX_REASON] if str(error) else place.rstrip(" :")
        described = _of_submission(error)
        if described is not None:
            return f"{place}the submitted code raised {described}"[:MAX_REASON]
        text = f"{place}{type(error).__name__}: {error}"[:MAX_REASON]
        has_values = self.code is not None and self.code.has_answered
        if has_values and not isinstance(error, MISTAKES):
            return f"{text} (with what the submitted code returned)"
        self.finish("error", reason=f"the grader failed: {text}")
        return text

    def _place(self, error: BaseException) -> str:
        """The innermost line of the script that the error passed through."""
        trace, line = error.__traceback__, None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == "grader.py":
                line = trace.tb_lineno
            trace = trace.tb_next
        if isinstance(error, SyntaxError) and line is None:
            line = error.lineno
        if line is None or not 0 < line <= len(self._lines):
            return ""
        return f"line {line}, {self._lines[line - 1].strip()[:200]}: "


def _of_submission(error: BaseException | None) -> str | None:
    """What the submitted code raised, if this exception or what led to it came from there."""
    for _ in range(100):
        if error is None:
            return None
        described = getattr(error, "described", None)
        if isinstance(described, str):
            return described
        error = error.__cause__ or error.__context__
    return None


def _arguments(check: Any, entries: list[Any]) -> list[Any]:
    """The entry points that a `check` takes."""
    if not isinstance(check, types.FunctionType):
        return entries[:1]
    is_open = check.__code__.co_flags & VARIABLE_ARGUMENTS
    return entries if is_open else entries[: check.__code__.co_argcount]


def _do_nothing(*_given: Any, **_named: Any) -> None:
    """In place of `unittest.main`: the tests run after the script."""


def fitting(document: dict[str, Any]) -> str:
    """The verdict as one line; the texts of its findings are cut where they are too long."""
    for length in (MAX_REASON, 300, 50, 10):
        text = json.dumps(_cut(document, length))
        if len(text) <= MAX_VERDICT_BYTES:
            break
    return text  # pyright: ignore[reportPossiblyUnboundVariable]


def _cut(value: Any, length: int) -> Any:
    if isinstance(value, str):
        return value[:length]
    if isinstance(value, (list, tuple)):
        return [_cut(one, length) for one in value[:MAX_FINDINGS]]
    if isinstance(value, dict):
        return {key: _cut(one, length) for key, one in value.items()}
    return value


def submission_of(document: dict[str, Any]) -> Any:
    """The submission as a grader uses it."""

    def files(given: dict[str, Any]) -> dict[str, File]:
        return {
            path: File(base64.b64decode(one["base64"]), bool(one.get("is_executable")))
            for path, one in given.items()
        }

    fields = dict(document)
    fields["files"] = files(fields.get("files") or {})
    for name in ("messages", "steps", "changes"):
        fields[name] = [Record(one) for one in fields.get(name) or ()]
    fields["usage"] = Record(fields.get("usage") or {})
    return Record(fields)


def main() -> None:
    """Read and delete the request; keep the channel of the verdict for this process alone."""
    with open(REQUEST) as file:  # noqa: PTH123
        request = json.load(file)
    os.unlink(REQUEST)  # noqa: PTH108
    request["runner_command"] = sys.argv[1:]
    channel = os.dup(1)
    # What the grader prints is for its author, not a verdict.
    os.dup2(2, 1)
    Grading(request, channel).run()
