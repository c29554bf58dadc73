"""Where untrusted code runs: providers, limits, test cases and their score.

A **provider** makes **sandboxes**; a sandbox has files and runs commands. `run_tests` calls a
submission's function (or runs it as a program) with the inputs of test cases and compares what
comes back with what was expected, on this side of the wall. A submission's failure is a result;
a machine that cannot isolate is an error. May import `arena.errors` and `arena.clock`.
"""

from arena.sandbox.cases import FUNCTION_LANGUAGES, CaseOptions, calc_score, run_tests
from arena.sandbox.errors import (
    InvalidPath,
    LimitReached,
    ProbeStep,
    ProtocolViolation,
    SandboxDestroyed,
    SandboxFailed,
    SandboxUnavailable,
    ToolchainMissing,
    UnsafeFile,
)
from arena.sandbox.languages import Language, Languages
from arena.sandbox.limits import Limit, Limits
from arena.sandbox.markdown import fenced_blocks
from arena.sandbox.ports import (
    CaseResult,
    ExecResult,
    FunctionCall,
    FunctionCaller,
    FunctionOutcome,
    Sandbox,
    SandboxProvider,
    TestCase,
)
from arena.sandbox.providers import provider_named
from arena.sandbox.submission import check_language, checked_name, normal_language
from arena.sandbox.values import UNDEFINED, MapValue, SetValue, equal

__all__ = [
    "FUNCTION_LANGUAGES",
    "UNDEFINED",
    "CaseOptions",
    "CaseResult",
    "ExecResult",
    "FunctionCall",
    "FunctionCaller",
    "FunctionOutcome",
    "InvalidPath",
    "Language",
    "Languages",
    "Limit",
    "LimitReached",
    "Limits",
    "MapValue",
    "ProbeStep",
    "ProtocolViolation",
    "Sandbox",
    "SandboxDestroyed",
    "SandboxFailed",
    "SandboxProvider",
    "SandboxUnavailable",
    "SetValue",
    "TestCase",
    "ToolchainMissing",
    "UnsafeFile",
    "calc_score",
    "check_language",
    "checked_name",
    "equal",
    "fenced_blocks",
    "normal_language",
    "provider_named",
    "run_tests",
]
