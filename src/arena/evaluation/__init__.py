"""Is it good: standards, submissions and verdicts.

A *standard* says what a good answer is, a *submission* is the answer, and `evaluate` turns the two
into a *verdict*: a score, pass or fail, and the findings with their evidence. It is the only judge
in the house: a benchmark test and a paid task differ only in what happens after the verdict.

This room imports no other room but what lies below it; it knows no database and no web.
"""

from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_standard_document
from arena.evaluation.standard import (
    VALIDATIONS,
    Fault,
    InvalidStandard,
    Standard,
    dotted,
    read_standard,
)
from arena.evaluation.verdict import Finding, Submission, Verdict

__all__ = [
    "VALIDATIONS",
    "Fault",
    "Finding",
    "InvalidStandard",
    "Standard",
    "Submission",
    "Verdict",
    "dotted",
    "evaluate",
    "read_standard",
    "read_standard_document",
]
