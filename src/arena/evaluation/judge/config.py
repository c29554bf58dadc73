"""The panel that judges: from the settings, and from what a standard may change."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from arena.errors import InvalidInput
from arena.evaluation.judge.prompt import PROMPT_VERSION
from arena.evaluation.resources import JudgeError
from arena.evaluation.standard import JudgeChoice, JudgePrompt
from arena.settings import Settings

ANY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The models that judge together, and the options of their requests."""

    base_url: str
    models: tuple[str, ...]
    votes: int
    """Votes per model."""
    temperature: float | None
    max_tokens: int | None
    max_characters: int
    """How much of a submission the models see."""

    @property
    def is_complete(self) -> bool:
        """Whether there is an endpoint and a model."""
        return bool(self.base_url and self.models)

    @property
    def identity(self) -> str:
        """Identifies the judge: measured figures are valid while it does not change."""
        # Everything that influences a score; the API key does not.
        described = {"prompt_version": PROMPT_VERSION, **asdict(self)}
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:16]


def panel_of(settings: Settings) -> Panel:
    """The judge of every standard that does not request another."""
    return Panel(
        base_url=(settings.judge_base_url or "").rstrip("/"),
        models=settings.judge_models,
        votes=settings.judge_votes,
        temperature=settings.judge_temperature,
        max_tokens=settings.judge_max_tokens,
        max_characters=settings.judge_max_characters,
    )


def panel_for(settings: Settings, choice: JudgeChoice | None) -> Panel:
    """The panel for a standard with this choice, if the operator allows it."""
    panel = panel_of(settings)
    if choice is not None:
        panel = replace(
            panel,
            base_url=(choice.base_url or panel.base_url).rstrip("/"),
            models=choice.models or panel.models,
            votes=choice.votes or panel.votes,
        )
        _refuse_foreign(settings, panel)
    if not panel.is_complete:
        raise JudgeError(
            "no judge is set up: set ARENA_JUDGE_BASE_URL and ARENA_JUDGE_MODELS", retryable=False
        )
    return panel


def refuse_many_calls(settings: Settings, standards: Sequence[JudgePrompt]) -> None:
    """Refuse parts that would need more calls than one request may, before the first one."""
    panels = [panel_for(settings, standard.judge) for standard in standards]
    calls = sum(len(panel.models) * panel.votes for panel in panels)
    if calls > settings.judge_calls_per_request:
        raise InvalidInput(
            f"the standard needs {calls:,} calls of judge models, at most "
            f"{settings.judge_calls_per_request:,} are allowed in one request"
        )


def key_for(settings: Settings, panel: Panel) -> str | None:
    """The API key, only for the endpoint it was configured for."""
    # An endpoint that a standard chose must not learn the operator's key.
    if settings.judge_api_key is None or panel.base_url != panel_of(settings).base_url:
        return None
    return settings.judge_api_key.get_secret_value()


def _refuse_foreign(settings: Settings, panel: Panel) -> None:
    """Refuse a model or an address that the operator has not allowed.

    A standard may come from anybody. Its author must not be able to spend the operator's money on
    any model, nor make this machine call any address.
    """
    own = panel_of(settings)
    urls = {own.base_url, *(url.rstrip("/") for url in settings.judge_allowed_urls)}
    if panel.base_url not in urls:
        raise JudgeError(
            f"the standard asks for a judge at {panel.base_url}, "
            "which ARENA_JUDGE_ALLOWED_URLS does not list",
            retryable=False,
        )
    allowed = {*own.models, *settings.judge_allowed_models}
    foreign = [model for model in panel.models if model not in allowed]
    if foreign and ANY not in allowed:
        raise JudgeError(
            f"the standard asks for the judge {foreign[0]!r}, which is neither in "
            "ARENA_JUDGE_MODELS nor in ARENA_JUDGE_ALLOWED_MODELS",
            retryable=False,
        )
