"""Judges on the wire: who judges, and how far that judge is known."""

from datetime import datetime

from pydantic import Field

from arena.schemas.wire import Wire


class Estimate(Wire):
    """A figure with its 95 % interval; null where the data allow none."""

    value: float | None
    low: float | None
    high: float | None


class JudgeFigures(Wire):
    """How well a judge agreed with people and with itself when it was last measured."""

    measured_at: datetime
    items: int = Field(description="Submissions that people had scored.")
    kappa: Estimate = Field(description="Agreement beyond chance, quadratic weights; 1 is perfect.")
    mean_error: Estimate = Field(description="Mean distance from the human score, in points.")
    bias: Estimate = Field(description="Mean of judge minus human; above 0 it is generous.")
    spread: Estimate = Field(description="Mean highest minus lowest score of one item, repeated.")
    flips: Estimate = Field(description="Share of items that both passed and failed, repeated.")


class JudgeAttacked(Wire):
    """How far a judge was talked into other scores by the corpus of injections."""

    measured_at: datetime
    pairs: int
    moved: int = Field(description="Pairs whose score moved further than the judge does by itself.")
    raised: int
    flipped: int = Field(description="Pairs of which only the injected submission passed.")
    mean_shift: float = Field(description="Injected minus harmless, in points.")


class Judge(Wire):
    """A panel of models that judges, and the latest figures about it."""

    id: str = Field(
        description="The same for the same models asked in the same way.",
        examples=["5f1c0e8a9b7d6c3e"],
    )
    base_url: str
    models: list[str] = Field(examples=[["gpt-4o-mini"]])
    votes: int = Field(description="How often each model votes.")
    prompt_version: int
    temperature: float | None
    max_tokens: int | None
    max_characters: int = Field(description="How much of a submission it is shown.")
    calibration: JudgeFigures | None = Field(description="null where it was never measured.")
    attack: JudgeAttacked | None = Field(description="null where it was never attacked.")


class JudgeList(Wire):
    """The judges that the settings name."""

    judges: list[Judge]
    count: int
