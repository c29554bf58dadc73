"""A hostile submission, and the check that it is contained."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Outcome = Mapping[str, object]
"""value, error, limit, stdout, stderr, seconds; survivors and zombies (processes left behind). For
commands also exit_code, read (what reading two files from outside gave) and on_host (whether a file
of the sandbox is in fact the host's). In the control also outlived and broken."""
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
    """python, javascript, or command (a shell script in a workspace)."""
    source: str
    contained: Check
    marker: str = ""
    """Part of the command line of every process that it leaves behind."""

    @property
    def id(self) -> str:
        return f"{self.number:03}-{self.language}-{self.name}"

    @property
    def text(self) -> str:
        return self.start + self.source

    @property
    def start(self) -> str:
        starts = {"python": PYTHON_START, "javascript": JAVASCRIPT_START}
        return starts.get(self.language, "")


def gives(*values: object) -> Check:
    return lambda outcome: outcome["error"] is None and outcome["value"] in values


def value(test: Callable[[object], bool]) -> Check:
    def check(outcome: Outcome) -> bool:
        try:
            return outcome["error"] is None and bool(test(outcome["value"]))
        except (TypeError, LookupError, ValueError, AttributeError):
            return False  # a value of another shape

    return check


def over(*limits: str) -> Check:
    return lambda outcome: outcome["limit"] in limits


def fails(pattern: str = "") -> Check:
    """An error of the submission itself: no value, no limit."""
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
    def check(outcome: Outcome) -> bool:
        try:
            return test(str(outcome["stdout"]))
        except ValueError:
            return False  # a text of another shape

    return check


def last_line(*lines: str) -> Check:
    """For commands: what the script printed last."""
    return output(lambda text: (text.strip().splitlines() or [""])[-1] in lines)


def last_and_only(line: str) -> Check:
    """For commands: all that the script printed."""
    return output(lambda text: text == f"{line}\n")


def leaves_nothing(outcome: Outcome) -> bool:
    """No process with the attack's marker, and no zombie children of one."""
    return outcome["survivors"] == 0 and outcome["zombies"] == 0
