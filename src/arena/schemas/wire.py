"""What every shape on the wire shares."""

from typing import Literal, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator


class Wire(BaseModel):
    """What every shape shares: values that do not change."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class Asked(Wire):
    """What a client sends: a key that is not known is an error, not a silence."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*")
    @classmethod
    def _refuse_nul(cls, value: object) -> object:
        if _has_nul(value):
            raise ValueError("must not contain NUL")
        return value


def _has_nul(value: object) -> bool:
    """Whether a text, or one of a list, holds what PostgreSQL cannot store."""
    if isinstance(value, list):
        return any(map(_has_nul, cast(list[object], value)))
    return isinstance(value, str) and "\0" in value


class Misfit(Wire):
    """A place where a request did not fit."""

    at: str = Field(examples=["body.trials"])
    message: str = Field(examples=["Input should be greater than or equal to 1"])


class Problem(Wire):
    """Why a request was not done (RFC 9457)."""

    type: str = "about:blank"
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    code: str = Field(description="Stable: programs may rely on it.", examples=["not_found"])
    detail: str = Field(examples=["no agent is called 'qa-web'; did you mean 'qa-web-manager'?"])
    errors: list[Misfit] = Field(default=[], description="Each place where a request did not fit.")


class Health(Wire):
    """Whether the server works."""

    status: Literal["ok"] = "ok"
    version: str


class TeamList(Wire):
    """The teams that may be chosen."""

    teams: list[str] = Field(examples=[["default"]])
    is_local: bool = Field(description="Whether any team may be named, without a token.")
