"""What a standard needs of the machine that judges by it."""

from arena.evaluation.checks import CHECKS
from arena.evaluation.grader import Grader
from arena.evaluation.standard import Standard, TestCases, leaves
from arena.evaluation.tool_checks import TOOL_CHECKS
from arena.evaluation.validators import VALIDATORS
from arena.evaluation.verify_files import VerifyFiles

NEVER_NEED_SANDBOX = frozenset({*VALIDATORS, *CHECKS, *TOOL_CHECKS, "judge_prompt", "checklist"})
"""Validations whose standard runs no untrusted code, whatever its body is."""


def needs_sandbox(standard: Standard) -> bool:
    """Whether it runs untrusted code."""
    return any(isinstance(leaf, TestCases | Grader | VerifyFiles) for leaf in leaves(standard))
