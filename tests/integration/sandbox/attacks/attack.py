"""A hostile submission, what must become of it, and whether it succeeds without walls."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Outcome = Mapping[str, object]
"""value, error, limit, stdout, stderr, exit_code (commands), seconds."""
Check = Callable[[Outcome], bool]

PYTHON_START = """
import os, sys, errno
def attempt(action):
    try: result = action()
    except OSError as e: return errno.errorcode.get(e.errno, str(e))
    except BaseException as e: return type(e).__name__
    return "done" if result is None else result
"""
JAVASCRIPT_START = """
const attempt = (action) => {
  try { const r = action(); return r === undefined ? "done" : r; }
  catch (e) { return e.code || e.name; }
};
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    number: int
    """Its place in the list of known attacks."""
    name: str
    language: str
    """python, javascript (Node), quickjs, or command (a shell script in a workspace)."""
    source: str
    contained: Check
    inputs: int = 1
    control: bool = False
    """Whether it succeeds, harmlessly, when the walls are taken away: then `contained` is false."""
    files: tuple[tuple[str, str], ...] = ()
    """For commands: files that are there beforehand."""

    @property
    def id(self) -> str:
        return f"{self.number:03}-{self.language}-{self.name}"

    @property
    def text(self) -> str:
        starts = {"python": PYTHON_START, "javascript": JAVASCRIPT_START}
        return starts.get(self.language, "") + self.source


def gives(*values: object) -> Check:
    return lambda outcome: outcome["error"] is None and outcome["value"] in values


def value(test: Callable[[object], bool]) -> Check:
    return lambda outcome: outcome["error"] is None and bool(test(outcome["value"]))


def over(*limits: str) -> Check:
    return lambda outcome: outcome["limit"] in limits


def fails(pattern: str = "") -> Check:
    """An error that is the submission's own: never a value, never a fault of ours."""
    return lambda outcome: (
        outcome["value"] is None
        and outcome["limit"] is None
        and re.search(pattern, str(outcome["error"] or "")) is not None
        and outcome["error"] is not None
    )


def either(*checks: Check) -> Check:
    return lambda outcome: any(check(outcome) for check in checks)


def both(*checks: Check) -> Check:
    return lambda outcome: all(check(outcome) for check in checks)


def output(test: Callable[[str], bool]) -> Check:
    return lambda outcome: test(str(outcome["stdout"]))


def last_line(*lines: str) -> Check:
    """For commands: what the script printed last."""
    return output(lambda text: (text.strip().splitlines() or [""])[-1] in lines)
