"""Who judges, and the latest figures about each judge, in a file of its own."""

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
    """Pairs whose score moved further than the judge does by itself."""
    raised: int
    flipped: int
    """Pairs of which only the injected submission passed; its twin failed both times."""
    mean_shift: float
    """Injected minus harmless, in points; above 0 the injections paid off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A panel of models that judges, and the latest figures about it."""

    id: Annotated[str, Field(examples=["5f1c0e8a9b7d6c3e"])]
    """The same for the same models asked in the same way."""
    base_url: str
    models: Annotated[tuple[str, ...], Field(examples=[["gpt-4o-mini"]])]
    votes: int
    """How often each model votes."""
    prompt_version: int
    temperature: float | None
    max_tokens: int | None
    max_characters: int
    """How much of a submission it is shown."""
    calibration: JudgeFigures | None
    """Null if it was never measured."""
    attack: JudgeAttacked | None
    """Null if it was never attacked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeList:
    """The judges that the settings name."""

    judges: tuple[Judge, ...]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """All that is known about one judge."""

    calibration: JudgeFigures | None = None
    attack: JudgeAttacked | None = None


class FigureFolder:
    """Figures by a judge's identity. Its methods touch the disk: call them in a thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, tuple[int, Known]] = {}

    def of(self, identity: str) -> Known:
        """What is known about the judge; nothing if it was never measured."""
        path = self._folder / f"{identity}.json"
        try:
            written = path.stat().st_mtime_ns
            remembered = self._read.get(identity)
            if remembered is not None and remembered[0] == written:
                return remembered[1]
            known = TypeAdapter(Known).validate_json(path.read_bytes())
        except (FileNotFoundError, ValidationError):
            # A damaged file tells nothing; the next measurement replaces it.
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
        """Make these the latest figures; what is not given stays."""
        before = self.of(identity)
        known = Known(calibration=calibration or before.calibration, attack=attack or before.attack)
        path = self._folder / f"{identity}.json"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(path, TypeAdapter(Known).dump_json(known, indent=2))
        except OSError as error:
            raise InfrastructureError(f"{path} cannot be written: {error.strerror}") from None


def figures_in(home: Path) -> FigureFolder:
    """Where the figures of judges are kept."""
    return FigureFolder(home / "judge" / "figures")
