"""The judges and their latest figures, one file per judge."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from arena.errors import InfrastructureError
from arena.evaluation.verdict import JudgeFigures
from arena.files import write_atomically


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAttacked:
    """How far the corpus of injections moved a judge's scores."""

    measured_at: datetime
    pairs: int
    moved: int
    """Pairs whose score moved more than the judge's own noise."""
    raised: int
    flipped: int
    """Pairs in which only the injected submission passed; its twin failed both times."""
    mean_shift: float
    """Injected minus harmless, in points; above 0, the injections worked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A panel of models that judges, and the latest figures about it."""

    id: Annotated[str, Field(examples=["5f1c0e8a9b7d6c3e"])]
    """Equal for the same models with the same options."""
    base_url: str
    models: Annotated[tuple[str, ...], Field(examples=[["gpt-4o-mini"]])]
    votes: int
    """How often each model votes."""
    prompt_version: int
    temperature: float | None
    max_tokens: int | None
    max_characters: int
    """How much of a submission it sees."""
    calibration: JudgeFigures | None
    """Null if it was never measured."""
    attack: JudgeAttacked | None
    """Null if it was never attacked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeList:
    """The configured judges."""

    judges: tuple[Judge, ...]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The figures of one judge."""

    calibration: JudgeFigures | None = None
    attack: JudgeAttacked | None = None


class FigureFolder:
    """Figures by a judge's identity. Its methods use the disk: call them in a thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, tuple[int, Known]] = {}

    def of(self, identity: str) -> Known:
        """The figures of the judge; empty if it was never measured."""
        path = self._folder / f"{identity}.json"
        try:
            written = path.stat().st_mtime_ns
            remembered = self._read.get(identity)
            if remembered is not None and remembered[0] == written:
                return remembered[1]
            known = TypeAdapter(Known).validate_json(path.read_bytes())
        except (FileNotFoundError, ValidationError):
            # A damaged file counts as no figures; the next measurement replaces it.
            return Known()
        except OSError as error:
            raise InfrastructureError(f"{path} cannot be read: {error.strerror}") from None
        self._read[identity] = (written, known)
        return known

    def keep(
        self,
        identity: str,
        *,
        calibration: JudgeFigures | None = None,
        attack: JudgeAttacked | None = None,
    ) -> None:
        """Replace the given figures; the others are kept."""
        before = self.of(identity)
        known = Known(calibration=calibration or before.calibration, attack=attack or before.attack)
        path = self._folder / f"{identity}.json"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(path, TypeAdapter(Known).dump_json(known, indent=2))
        except OSError as error:
            raise InfrastructureError(f"{path} cannot be written: {error.strerror}") from None


def figures_in(home: Path) -> FigureFolder:
    """The folder of judges' figures."""
    return FigureFolder(home / "judge" / "figures")
