"""Reads what people said about submissions: a line of JSON for each, to measure a judge by."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from arena.errors import InvalidInput, nearest
from arena.evaluation.faults import InvalidStandard, name_of
from arena.evaluation.reading import read_standard_document
from arena.evaluation.standard import JudgePrompt

KEYS = ("standard", "submission", "labels", "score")
MAX_BYTES = 256 * 1024 * 1024
MAX_FAULTS = 20
"""How many are told at once; a file of the wrong kind is wrong in every line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A submission and the scores that people gave it."""

    standard: JudgePrompt
    submission: str
    scores: Mapping[str, float]
    """By criterion; empty where only the whole was scored."""
    score: float
    """The whole; where only the criteria were scored, what they come to."""


class BadLine(Exception):
    """What is wrong with a line."""


def read_labels(path: Path) -> list[Label]:
    """Every label of a file, or an error with each line that is wrong and why."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InvalidInput(f"{path} is larger than {MAX_BYTES // 1024 // 1024} MiB; split it")
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None
    labels: list[Label] = []
    faults: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            labels.append(_label(line, path.parent))
        except BadLine as wrong:
            faults.append(f"{path}:{number}: {wrong}")
    if faults:
        more = len(faults) - MAX_FAULTS
        told = [*faults[:MAX_FAULTS], *([f"and {more} more"] if more > 0 else [])]
        raise InvalidInput("\n".join(told))
    if not labels:
        raise InvalidInput(f"{path} holds no label; each line is a JSON object with {KEYS[:3]}")
    return labels


def _label(line: bytes, folder: Path) -> Label:
    row = _row(line)
    for key in row:
        if key not in KEYS:
            raise BadLine(f"unknown key {key!r}{nearest(key, KEYS)}")
    submission = row.get("submission")
    if not isinstance(submission, str):
        raise BadLine(f"submission must be a string, is {name_of(submission)}")
    standard = _standard(row.get("standard"), folder)
    if ("labels" in row) == ("score" in row):
        raise BadLine("needs either 'labels' (a score for each criterion) or 'score'")
    if "score" in row:
        score = _score(row["score"], "score")
        return Label(standard=standard, submission=submission, scores={}, score=score)
    return _by_criterion(row["labels"], standard, submission)


def _row(line: bytes) -> dict[str, object]:
    try:
        row: object = json.loads(line)
    except UnicodeDecodeError:
        raise BadLine("is not UTF-8") from None
    except (ValueError, RecursionError) as wrong:
        raise BadLine(f"is not JSON: {wrong}") from None
    if not isinstance(row, dict):
        raise BadLine(f"must be a JSON object, is {name_of(row)}")
    return cast(dict[str, object], row)


def _standard(value: object, folder: Path) -> JudgePrompt:
    if isinstance(value, str):
        value = _document(folder / value)
    try:
        standard = read_standard_document(value)
    except InvalidStandard as wrong:
        raise BadLine(f"standard: {wrong.message}") from None
    if not isinstance(standard, JudgePrompt):
        raise BadLine("standard must be of the type judge_prompt: no other is judged by a model")
    return standard


def _document(path: Path) -> object:
    try:
        return json.loads(path.read_bytes())
    except OSError as wrong:
        raise BadLine(f"standard: {path} cannot be read: {wrong.strerror}") from None
    except (ValueError, RecursionError) as wrong:
        raise BadLine(f"standard: {path} is not JSON: {wrong}") from None


def _by_criterion(value: object, standard: JudgePrompt, submission: str) -> Label:
    if not isinstance(value, dict):
        raise BadLine(f"labels must be an object, is {name_of(value)}")
    given = cast(dict[str, object], value)
    for name in given:
        if name not in standard.criteria:
            raise BadLine(f"labels: no criterion {name!r}{nearest(name, standard.criteria)}")
    missing = [name for name in standard.criteria if name not in given]
    if missing:
        raise BadLine(f"labels: {missing[0]!r} has no score")
    scores = {name: _score(given[name], f"labels.{name}") for name in standard.criteria}
    weighed = zip(scores.values(), standard.weights, strict=True)
    whole = sum(score * weight for score, weight in weighed) / sum(standard.weights)
    return Label(standard=standard, submission=submission, scores=scores, score=whole)


def _score(value: object, at: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadLine(f"{at} must be a number, is {name_of(value)}")
    if not 0 <= value <= 100:  # a NaN fails it too
        raise BadLine(f"{at} must be from 0 to 100, is {value}")
    return float(value)
