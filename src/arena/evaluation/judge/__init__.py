"""The judge: models that score a submission by a standard's criteria.

A **judge** is a *panel*: one or more models at one OpenAI-compatible endpoint, each voting once or
several times. A *vote* scores every criterion with a whole number, a reason and a quote; the lower
median of the votes counts. The submission is data: it travels in a message of its own between
delimiters that nobody can guess, and an answer that does not fit the schema is no score but a
`JudgeError`. How well a judge agrees with people is measured by `calibration`, how far it can be
talked into another score by `attack`.
"""

from arena.evaluation.judge.config import JudgeConfig, Panel, config_from
from arena.evaluation.judge.judge import ModelJudge, open_judge
from arena.evaluation.judge.suggestion import Suggestion, suggest
from arena.evaluation.resources import JudgeError

__all__ = [
    "JudgeConfig",
    "JudgeError",
    "ModelJudge",
    "Panel",
    "Suggestion",
    "config_from",
    "open_judge",
    "suggest",
]
