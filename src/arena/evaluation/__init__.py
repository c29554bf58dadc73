"""Is it good: standards, submissions and verdicts.

A *standard* says what a good answer is, a *submission* is the answer, and `evaluate` turns the two
into a *verdict*: a score, pass or fail, and the findings with their evidence. It is the only judge
in the house: a benchmark test and a paid task differ only in what happens after the verdict.

Its means come from outside: the sandbox for test cases, a model for a judge's criteria, people's
answers for a checklist. It knows no database and no web.
"""

from arena.evaluation.evaluate import checklists, evaluate
from arena.evaluation.faults import Fault, InvalidStandard, dotted
from arena.evaluation.judgement import Judgement, Vote
from arena.evaluation.reading import VALIDATIONS, read_standard, read_standard_document
from arena.evaluation.record import NotARecord, contents_of, keep_record, read_record
from arena.evaluation.resources import (
    NO_RESOURCES,
    JudgeError,
    Judging,
    NotJudged,
    PartPath,
    Resources,
    ReviewNeeded,
    Unsealing,
)
from arena.evaluation.sealed import (
    Opening,
    SealedFolder,
    read_private_part,
    seal_name,
    write_private_part,
)
from arena.evaluation.sealing import seal
from arena.evaluation.standard import (
    MIN_PASS_SCORE,
    Checklist,
    JudgeChoice,
    JudgePrompt,
    Standard,
    TestCases,
    is_graded,
    passes_from,
)
from arena.evaluation.verdict import Finding, ItemAnswer, Submission, Verdict

__all__ = [
    "MIN_PASS_SCORE",
    "NO_RESOURCES",
    "VALIDATIONS",
    "Checklist",
    "Fault",
    "Finding",
    "InvalidStandard",
    "ItemAnswer",
    "JudgeChoice",
    "JudgeError",
    "JudgePrompt",
    "Judgement",
    "Judging",
    "NotARecord",
    "NotJudged",
    "Opening",
    "PartPath",
    "Resources",
    "ReviewNeeded",
    "SealedFolder",
    "Standard",
    "Submission",
    "TestCases",
    "Unsealing",
    "Verdict",
    "Vote",
    "checklists",
    "contents_of",
    "dotted",
    "evaluate",
    "is_graded",
    "keep_record",
    "passes_from",
    "read_private_part",
    "read_record",
    "read_standard",
    "read_standard_document",
    "seal",
    "seal_name",
    "write_private_part",
]
