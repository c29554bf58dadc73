"""Reads people's scores of submissions, one JSON object per line, to measure a judge."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StrictStr

from arena.documents.validation import Fault, dotted
from arena.errors import InvalidInput, nearest
from arena.evaluation.evaluate import weighted_mean
from arena.evaluation.fields import Body, InvalidStandard, Number, read
from arena.evaluation.reading import read_standard_document
from arena.evaluation.standard import JudgePrompt

MAX_BYTES = 256 * 1024 * 1024
MAX_FAULTS = 20
"""How many are reported at once; a file of another kind has a fault in every line."""

Score = Annotated[Number, Field(ge=0, le=100)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A submission and people's scores of it."""

    standard: JudgePrompt
    submission: str
    scores: Mapping[str, float]
    """By criterion; empty if only the whole was scored."""
    score: float
    """The score of the whole; if only criteria were scored, their weighted mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line(Body):
    standard: Any
    submission: StrictStr
    labels: dict[str, Score] | None = None
    score: Score | None = None


def read_labels(path: Path) -> list[Label]:
    """Every label of a file; an error with every faulty line and its reason."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InvalidInput(f"{path} is larger than {MAX_BYTES // 1024 // 1024} MiB; split it")
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None
    labels: list[Label] = []
    faults: list[str] = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                labels.append(_label(line, path.parent))
        except InvalidInput as error:
            faults.append(f"{path}:{number}: {error.message}")
    if len(faults) > MAX_FAULTS:
        faults = [*faults[:MAX_FAULTS], f"and {len(faults) - MAX_FAULTS} more"]
    if faults:
        raise InvalidInput("\n".join(faults))
    if not labels:
        raise InvalidInput(
            f"{path} is empty: each line must be a JSON object with standard, submission and labels"
        )
    return labels


def _label(line: bytes, folder: Path) -> Label:
    faults: list[Fault] = []
    row = read(_Line, _json(line), faults)
    if row is None:
        texts = (f"{dotted(f.path)}: {f.message}" if f.path else f.message for f in faults)
        raise InvalidInput("; ".join(texts))
    standard = _standard(row.standard, folder)
    if (row.labels is None) == (row.score is None):
        raise InvalidInput("needs either 'labels' (a score for each criterion) or 'score'")
    if row.labels is None:
        score = row.score or 0.0
        return Label(standard=standard, submission=row.submission, scores={}, score=score)
    for name in row.labels:
        if name not in standard.criteria:
            raise InvalidInput(f"labels: no criterion {name!r}{nearest(name, standard.criteria)}")
    for name in standard.criteria:
        if name not in row.labels:
            raise InvalidInput(f"labels: {name!r} has no score")
    scores = {name: float(row.labels[name]) for name in standard.criteria}
    score = weighted_mean([*scores.values()], standard.weights)
    return Label(standard=standard, submission=row.submission, scores=scores, score=score)


def _standard(value: object, folder: Path) -> JudgePrompt:
    if isinstance(value, str):
        # Relative to the file of labels, so that the two can be moved together.
        path = folder / value
        try:
            value = _json(path.read_bytes(), f"standard: {path} ")
        except OSError as error:
            raise InvalidInput(f"standard: {path} cannot be read: {error.strerror}") from None
    try:
        standard = read_standard_document(value)
    except InvalidStandard as error:
        raise InvalidInput(f"standard: {error.message}") from None
    if not isinstance(standard, JudgePrompt):
        raise InvalidInput("standard must be of the type judge_prompt: no other uses a model")
    return standard


def _json(data: bytes, name: str = "") -> object:
    try:
        return json.loads(data)
    except UnicodeDecodeError:
        raise InvalidInput(f"{name}is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{name}is not JSON: {error}") from None
