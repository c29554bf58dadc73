"""Settings: from `ARENA_*` variables, then from `arena.toml`, then the defaults below.

An empty variable counts as not set. An `arena.toml` with a table `[project]` also counts for the
folders below it; relative paths in it begin at its folder.
"""

import difflib
import json
import os
import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from pydantic import ConfigDict, Field, SecretStr, ValidationError, ValidationInfo, field_validator

from arena.errors import InvalidInput, nearest
from arena.fields import MAX_NAME_LENGTH, MAX_REVIEWERS, MAX_VOTES
from arena.network_settings import NetworkSettings, address_problem, header_key, split
from arena.project import (
    FILE_NAME,
    OWN_SUITE,
    TABLE,
    Project,
    find_home,
    find_project_file,
    named_project_file,
    read_project,
    read_toml,
    refuse_foreign_data,
    shown,
)
from arena.team import DEFAULT_TEAM

MIN_TOKEN_LENGTH = 16
MIB = 1024**2
# With tokens, several teams share a server: each has a share that is generous, but not endless.
CALLS_PER_HOUR = 1000
QUOTA_MIB = 10 * 1024
COMPONENTS = ("benchmark", "user_rating", "success_rate", "cost_efficiency")
EXAMPLE_WEIGHTS = '{"benchmark": 0.5, "user_rating": 0.2}'
"""Adds up to 1 with the defaults of the other components."""
READ_ELSEWHERE = {"ARENA_SKIP_WEB"}
"""`ARENA_*` variables that are not settings: only the build reads them."""


class Settings(NetworkSettings):
    """All settings of Arena."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    home: Path = Field(default_factory=lambda: find_home(Path.cwd()))
    """Folder of the embedded database, `benchmarks/*.yaml` and `agents/*.yaml`. Default: the data
    folder of the project; without one, `.arena` in the current folder or the nearest one above it;
    if there is none, the user's data folder."""
    project: Project | None = None
    """The project of the current folder; `ARENA_PROJECT` names the file of another."""
    database_url: SecretStr | None = None
    """PostgreSQL URL. Default: the embedded SQLite database in `home`."""
    host: str = "127.0.0.1"
    port: int = Field(default=5109, ge=0, le=65535)
    server: str | None = None
    """URL of the Arena server that the command line uses. Default: work in this process."""
    token: SecretStr | None = None
    """Token for `server`."""
    team: str = Field(default=DEFAULT_TEAM, min_length=1, max_length=MAX_NAME_LENGTH)
    """Team of the command line. Default: the team of `token`, or `default` without one."""
    tokens: tuple[SecretStr, ...] = ()
    """Tokens that the server accepts, as `team:token`; required unless `host` is loopback."""
    tests: tuple[Path, ...] = ()
    """Folders or files of tests besides those of the project and `home/benchmarks`."""
    agents: tuple[Path, ...] = ()
    """Folders of agent files, or single ones, besides those of the project and `home/agents`."""
    sandbox: str = "namespace"
    """Provider for submitted code: namespace, docker, daytona, or one from a plugin."""
    daytona_api_key: SecretStr | None = None
    languages: Path | None = None
    """TOML file with additional languages for submitted programs."""
    judge_base_url: str | None = None
    """OpenAI-compatible endpoint of the judge models, like https://api.example.com/v1."""
    judge_api_key: SecretStr | None = None
    judge_models: tuple[str, ...] = ()
    """Models of the panel."""
    judge_votes: int = Field(default=1, ge=1, le=MAX_VOTES)
    """Votes per model and submission."""
    judge_temperature: float | None = Field(default=None, ge=0, le=2)
    judge_max_tokens: int | None = Field(default=None, ge=1)
    """Token limit of one answer. Like the temperature, it is sent only if set."""
    judge_max_characters: int = Field(default=100_000, ge=100, le=10_000_000)
    """Maximum length of a submission in the prompt; the rest is cut."""
    judge_concurrency: int = Field(default=8, ge=1, le=1000)
    """Concurrent requests per endpoint."""
    judge_per_minute: int | None = Field(default=None, ge=1)
    """Requests per minute and endpoint."""
    judge_timeout_seconds: float = Field(default=120, gt=0, le=3600)
    judge_retries: int = Field(default=3, ge=0, le=20)
    """Retries of a vote after an error or an invalid answer."""
    judge_cache_entries: int = Field(default=10_000, ge=0)
    """Size of the answer cache, so that the same request is not paid for twice."""
    judge_calls_per_request: int = Field(default=100, ge=1)
    """Calls that one evaluation on request may need; more are refused before the first one."""
    judge_calls_per_hour: int | None = Field(default=None, ge=0)
    """Calls per team; 0: no limit. Default: 1,000 with tokens, no limit without."""
    judge_allowed_models: tuple[str, ...] = ()
    """Other models that a standard may request; `*` for any."""
    judge_allowed_urls: tuple[str, ...] = ()
    """Other endpoints that a standard may request; they do not get the API key."""
    retries: int = Field(default=2, ge=0, le=20)
    """Retries of a test after an infrastructure error."""
    retry_delay_seconds: float = Field(default=0.5, ge=0, le=60)
    """Delay before the first retry; it doubles with each retry."""
    max_wait_seconds: float = Field(default=600, ge=0, le=86_400)
    """How long a run waits for an agent that throttles (Retry-After)."""
    reviewers_needed: int = Field(default=1, ge=1, le=MAX_REVIEWERS)
    """Reviewers required per item of a checklist."""
    content_quota_mib: int | None = Field(default=None, ge=0)
    """Content that a team may store; 0: no limit. Default: 10 GiB with tokens, no limit without."""
    content_min_free_mib: int = Field(default=256, ge=0)
    """Free space on the disk below which no content is stored."""
    weights: dict[str, Decimal] = Field(default={})
    """Weights of the score components; must add up to 1. Omitted ones keep their default."""
    log_level: str = Field(default="info", pattern="^(debug|info|warning|error)$")

    @field_validator(
        "tokens",
        "judge_models",
        "judge_allowed_models",
        "judge_allowed_urls",
        mode="before",
    )
    @classmethod
    def _split_list(cls, value: object) -> object:
        return split(value, ",")

    @field_validator("tests", "agents", mode="before")
    @classmethod
    def _split_paths(cls, value: object) -> object:
        return split(value, os.pathsep)

    @field_validator("tokens")
    @classmethod
    def _check_tokens(cls, tokens: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        for number, entry in enumerate(tokens, start=1):
            team, _, token = entry.get_secret_value().partition(":")
            is_sendable = token.isascii() and token.isprintable() and " " not in token
            if not team or not is_sendable or len(token) < MIN_TOKEN_LENGTH:
                raise ValueError(
                    f"entry {number} must be team:token, the token at least "
                    f"{MIN_TOKEN_LENGTH} ASCII characters long and without spaces"
                )
        known = [entry.get_secret_value().partition(":")[2] for entry in tokens]
        if len(set(known)) < len(known):
            raise ValueError("two entries have the same token: each must be of one team")
        return tokens

    @field_validator("judge_models")
    @classmethod
    def _check_models(cls, models: tuple[str, ...]) -> tuple[str, ...]:
        # Twice the same vote: from the cache it would be one opinion that counts double.
        if len(set(models)) < len(models):
            raise ValueError("names a model twice: ARENA_JUDGE_VOTES says how often each is asked")
        return models

    @field_validator("judge_base_url", "judge_allowed_urls")
    @classmethod
    def _check_urls(cls, value: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        for url in (value,) if isinstance(value, str) else value or ():
            if problem := address_problem(url):
                raise ValueError(problem)
        return value

    @field_validator("judge_api_key")
    @classmethod
    def _check_key(cls, key: SecretStr | None) -> SecretStr | None:
        return header_key(key)

    @field_validator("home", "database_url", mode="before")
    @classmethod
    def _refuse_nothing(cls, value: object) -> object:
        # An empty path would be the current folder.
        if value == "":
            raise ValueError("is empty; leave it out for the default")
        return value

    @field_validator("home")
    @classmethod
    def _expand_home(cls, home: Path) -> Path:
        return home.expanduser().absolute()

    @field_validator("database_url")
    @classmethod
    def _check_database(cls, url: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        scheme = url.get_secret_value().partition("://")[0] if url else "sqlite"
        kind = scheme.partition("+")[0]
        if kind not in ("postgresql", "postgres", "sqlite"):
            raise ValueError("must begin with postgresql:// or sqlite://")
        if kind == "sqlite" and info.data.get("dispatch") == "queued":
            raise ValueError("must be a PostgreSQL address with ARENA_DISPATCH=queued")
        return url

    @field_validator("weights")
    @classmethod
    def _check_weights(cls, weights: dict[str, Decimal]) -> dict[str, Decimal]:
        for name in weights:
            if name not in COMPONENTS:
                raise ValueError(f"there is no component {name!r}{nearest(name, COMPONENTS)}")
        return weights

    @property
    def has_builtin(self) -> bool:
        """Whether the bundled tests and agents are included."""
        return self.project is None or self.project.builtin

    @property
    def own_suite(self) -> str:
        """The suite of the user's own tests: called like the project."""
        return self.project.name if self.project else OWN_SUITE

    @property
    def project_tests(self) -> tuple[Path, ...]:
        """The folders and files of the project's tests."""
        return self.project.tests if self.project else ()

    @property
    def agent_folders(self) -> tuple[Path, ...]:
        """Every folder and file of agents, in the order that decides whose a version is.

        As for tests, the home comes last: a copy there never stands in for a file of the project,
        or for one that was named.
        """
        own = self.project.agents if self.project else ()
        return (*own, *self.agents, self.home / "agents")

    @property
    def names_team(self) -> bool:
        """Whether a team was set, and not left to the default."""
        return "team" in self.model_fields_set

    @property
    def team_by_token(self) -> dict[str, str]:
        """Which team a token stands for."""
        entries = (entry.get_secret_value().partition(":") for entry in self.tokens)
        return {token: team for team, _, token in entries}

    @property
    def judge_budget(self) -> int | None:
        """Calls of judge models per team and hour; None: no limit."""
        calls = self.judge_calls_per_hour
        if calls is None and self.tokens:
            calls = CALLS_PER_HOUR
        return calls or None

    @property
    def content_quota_bytes(self) -> int | None:
        """Content that a team may store; None: no limit."""
        mib = self.content_quota_mib
        if mib is None and self.tokens:
            mib = QUOTA_MIB
        return mib * MIB if mib else None

    @property
    def content_folder(self) -> Path:
        """Where content is kept by its CID."""
        return self.home / "content"

    @property
    def keystore_folder(self) -> Path:
        """Where the encrypted keys of parties on a chain are kept."""
        return self.home / "keystore"

    @property
    def sealed_folder(self) -> Path:
        """Where the private parts of sealed standards are kept."""
        return self.home / "sealed"

    @property
    def database(self) -> str:
        """The address of the database, with the driver Arena uses."""
        if self.database_url is None:
            return f"sqlite+aiosqlite:///{self.home / 'arena.db'}"
        url = self.database_url.get_secret_value()
        for scheme in ("postgresql://", "postgres://"):
            if url.startswith(scheme):
                return "postgresql+psycopg://" + url.removeprefix(scheme)
        if url.startswith("sqlite://"):
            return "sqlite+aiosqlite://" + url.removeprefix("sqlite://")
        return url


def read_settings(**given: Any) -> Settings:
    """The settings in force; `given` (from the command line) goes first, None means not given."""
    _refuse_misspelt(os.environ)
    try:
        variables = _from_variables(os.environ)
        named = variables.pop(TABLE, None)
        project, file = _from_files(named)
        values = file | variables
        if isinstance(file.get("weights"), dict) and isinstance(values["weights"], dict):
            # A variable may change one weight of several in the file.
            values["weights"] = {**file["weights"], **values["weights"]}
        values |= {name: value for name, value in given.items() if value is not None}
        if project is not None and "home" not in values:
            if named is None:
                refuse_foreign_data(project)
            values["home"] = project.data
        return Settings.model_validate(values | {TABLE: project})
    except ValidationError as error:
        raise InvalidInput("; ".join(map(_message, error.errors()))) from None
    except OSError as error:
        raise InvalidInput(f"{FILE_NAME} cannot be read: {error.strerror}") from None


def _from_files(named: str | None) -> tuple[Project | None, dict[str, Any]]:
    """The project, and the settings in its file and in the `arena.toml` of the current folder."""
    try:
        file = named_project_file(named) if named else find_project_file(Path.cwd())
    except OSError:
        file = None  # the current folder has been deleted
    project, values = None, dict[str, Any]()
    if file is not None:
        values = _known_keys(file, read_toml(file))
        if TABLE not in values:
            raise InvalidInput(f"{shown(file)} is not a project: it has no table [project]")
        project = read_project(file, values.pop(TABLE))
        if "home" in values:
            raise InvalidInput(f"{shown(file)}: instead of home, set data in [project]")
        values = _anchored(values, project.root)
    here = Path(FILE_NAME)
    if here.is_file() and TABLE not in (plain := read_toml(here)):
        # A project file here has been read above, or is not to be used.
        values |= _known_keys(here, plain)
    return project, values


def _known_keys(file: Path, values: dict[str, Any]) -> dict[str, Any]:
    """The values, if all are settings."""
    unknown = [name for name in values if name not in Settings.model_fields]
    if unknown:
        raise InvalidInput("; ".join(_not_a_setting(shown(file), name) for name in unknown))
    return values


def _anchored(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Settings from a file in `folder`: relative paths begin there, not at the current folder."""
    anchored = dict(values)
    for name in ("tests", "agents"):
        paths = split(values.get(name), os.pathsep)
        if isinstance(paths, list | tuple):
            every = cast(list[object], paths)
            anchored[name] = [folder / one if isinstance(one, str) else one for one in every]
    if isinstance(languages := values.get("languages"), str):
        anchored["languages"] = folder / languages
    if isinstance(url := values.get("database_url"), str):
        relative = re.match(r"(sqlite[^:]*:///)(?!/|:memory:)(?=.)", url)
        if relative:
            anchored["database_url"] = f"{relative[0]}{folder}/{url[relative.end() :]}"
    return anchored


def _from_variables(environment: Mapping[str, str]) -> dict[str, Any]:
    """The settings among the variables; an empty one counts as not set."""
    present = {name.upper(): value for name, value in environment.items() if value}
    names = {name: f"ARENA_{name.upper()}" for name in Settings.model_fields}
    values: dict[str, Any] = {
        name: present[variable] for name, variable in names.items() if variable in present
    }
    if "weights" in values:
        try:
            values["weights"] = json.loads(values["weights"])
        except ValueError:
            message = f"ARENA_WEIGHTS is not JSON; write it as {EXAMPLE_WEIGHTS}"
            raise InvalidInput(message) from None
    return values


def _refuse_misspelt(environment: Mapping[str, str]) -> None:
    """A variable that is nearly a setting is a typo."""
    known = {f"ARENA_{name.upper()}" for name in Settings.model_fields} | READ_ELSEWHERE
    for name in environment:
        if name.startswith("ARENA_") and name not in known:
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
            if close:
                raise InvalidInput(f"{name} is not a setting; did you mean {close[0]}?")


def _message(error: Any) -> str:
    name = ".".join(str(step) for step in error["loc"])
    if error["type"] == "extra_forbidden":
        return _not_a_setting(FILE_NAME, name)
    # The value is left out on purpose: it may be a secret.
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"setting {name} (ARENA_{name.split('.')[0].upper()}): {message}"


def _not_a_setting(file: str, name: str) -> str:
    return f"{file}: {name} is not a setting{nearest(name, Settings.model_fields)}"
