"""What was measured about judges: the latest figures of each, a small file per judge."""

from datetime import datetime
from pathlib import Path

from pydantic import ConfigDict, RootModel, ValidationError
from pydantic.dataclasses import dataclass

from arena.errors import InfrastructureError
from arena.evaluation.judgement import Figures
from arena.files import write_atomically


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="ignore"))
class Attacked:
    """How far a judge let itself be talked into other scores."""

    measured_at: datetime
    pairs: int
    moved: int
    """Pairs in which the injection moved the score further than the judge moves by itself."""
    raised: int
    flipped: int
    """Pairs of which only the injected submission passed; its twin failed both times."""
    mean_shift: float
    """In points, injected minus harmless; above 0 the injections paid off."""


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="ignore"))
class Known:
    """All that is known about one judge."""

    calibration: Figures | None = None
    attack: Attacked | None = None


class FigureFolder:
    """Figures by a judge's identity. Its methods touch the disk: call them in a thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, tuple[int, Known]] = {}

    def of(self, identity: str) -> Known:
        """What is known about the judge; nothing where it was never measured."""
        path = self._folder / f"{identity}.json"
        try:
            written = path.stat().st_mtime_ns
            remembered = self._read.get(identity)
            if remembered is not None and remembered[0] == written:
                return remembered[1]
            known = RootModel[Known].model_validate_json(path.read_bytes()).root
        except (FileNotFoundError, ValidationError):
            # A damaged file tells nothing; the next measurement replaces it.
            return Known()
        except OSError as error:
            raise InfrastructureError(f"{path} cannot be read: {error.strerror}") from None
        self._read[identity] = (written, known)
        return known

    def keep(
        self, identity: str, *, calibration: Figures | None = None, attack: Attacked | None = None
    ) -> None:
        """Make these the latest figures; what is not given stays."""
        before = self.of(identity)
        known = Known(calibration=calibration or before.calibration, attack=attack or before.attack)
        path = self._folder / f"{identity}.json"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            data = RootModel[Known](known).model_dump_json(indent=2).encode()
            write_atomically(path, data)
        except OSError as error:
            raise InfrastructureError(f"{path} cannot be written: {error.strerror}") from None
