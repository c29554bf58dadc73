"""Who judges: the endpoint and models of the settings, and what a standard may change."""

import hashlib
import json
from dataclasses import dataclass, field, replace

from arena.evaluation.judge.prompt import PROMPT_VERSION
from arena.evaluation.resources import JudgeError
from arena.evaluation.standard import JudgeChoice
from arena.settings import Settings

ANY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The models that judge together, and how they are asked."""

    base_url: str
    models: tuple[str, ...]
    votes: int = 1
    """How many of each model."""
    temperature: float | None = None
    max_tokens: int | None = None
    max_characters: int = 100_000
    """How much of a submission is shown."""

    @property
    def identity(self) -> str:
        """The same for the same judge: figures measured for it hold while this does not change."""
        told = {
            "prompt_version": PROMPT_VERSION,
            "base_url": self.base_url,
            "models": self.models,
            "votes": self.votes,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "max_characters": self.max_characters,
        }
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeConfig:
    """What an operator chose for the judge."""

    panel: Panel | None = None
    """The judge of every standard that asks for no other."""
    defaults: Panel = Panel(base_url="", models=())
    """How models are asked that only a standard names."""
    api_key: str | None = field(default=None, repr=False)
    """For the configured endpoint alone."""
    concurrency: int = 8
    per_minute: int | None = None
    timeout_seconds: float = 120.0
    retries: int = 3
    retry_delay_seconds: float = 0.5
    allowed_models: tuple[str, ...] = ()
    allowed_urls: tuple[str, ...] = ()

    def panel_for(self, choice: JudgeChoice | None) -> Panel:
        """The panel that judges by a standard with this choice, where the operator allows it.

        A standard may come from anybody. Its author must not spend the operator's money on any
        model, nor make this machine call any address.
        """
        panel = self.panel or self.defaults
        if choice is not None:
            panel = replace(
                panel,
                base_url=(choice.base_url or panel.base_url).rstrip("/"),
                models=choice.models or panel.models,
                votes=choice.votes or panel.votes,
            )
            self._refuse_foreign(panel)
        if not panel.base_url or not panel.models:
            raise JudgeError(
                "no judge is set up: set ARENA_JUDGE_BASE_URL and ARENA_JUDGE_MODELS",
                retryable=False,
            )
        return panel

    def key_for(self, panel: Panel) -> str | None:
        """The key, for the endpoint it was given for and no other."""
        own = self.panel or self.defaults
        return self.api_key if panel.base_url == own.base_url else None

    def _refuse_foreign(self, panel: Panel) -> None:
        own = self.panel or self.defaults
        if panel.base_url != own.base_url and panel.base_url not in self.allowed_urls:
            raise JudgeError(
                f"the standard asks for a judge at {panel.base_url}, "
                "which ARENA_JUDGE_ALLOWED_URLS does not list",
                retryable=False,
            )
        allowed = {*own.models, *self.allowed_models}
        foreign = [model for model in panel.models if model not in allowed]
        if foreign and ANY not in allowed:
            raise JudgeError(
                f"the standard asks for the judge {foreign[0]!r}, which is neither in "
                "ARENA_JUDGE_MODELS nor in ARENA_JUDGE_ALLOWED_MODELS",
                retryable=False,
            )


def config_from(settings: Settings) -> JudgeConfig:
    """The judge that the settings describe; without an endpoint and a model there is none."""
    base_url = (settings.judge_base_url or "").rstrip("/")
    defaults = Panel(
        base_url=base_url,
        models=settings.judge_models,
        votes=settings.judge_votes,
        temperature=settings.judge_temperature,
        max_tokens=settings.judge_max_tokens,
        max_characters=settings.judge_max_characters,
    )
    return JudgeConfig(
        panel=defaults if base_url and settings.judge_models else None,
        defaults=defaults,
        api_key=settings.judge_api_key.get_secret_value() if settings.judge_api_key else None,
        concurrency=settings.judge_concurrency,
        per_minute=settings.judge_per_minute,
        timeout_seconds=settings.judge_timeout_seconds,
        retries=settings.judge_retries,
        retry_delay_seconds=settings.retry_delay_seconds,
        allowed_models=settings.judge_allowed_models,
        allowed_urls=tuple(url.rstrip("/") for url in settings.judge_allowed_urls),
    )
