"""Where settings come from, and the errors for invalid ones."""

import os
from pathlib import Path

import pytest

from arena.errors import InvalidInput
from arena.settings import Settings, read_settings

SECRET = "s3cret-" + "x" * 20


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def refused(**given: object) -> str:
    with pytest.raises(InvalidInput) as raised:
        read_settings(**given)
    return raised.value.message


def test_by_default_arena_listens_on_loopback_only():
    settings = read_settings()
    assert (settings.host, settings.port, settings.tokens) == ("127.0.0.1", 5109, ())
    assert settings.database == f"sqlite+aiosqlite:///{settings.home}/arena.db"


def test_the_command_line_overrides_variables_and_variables_override_the_file(
    in_an_empty_folder: Path, monkeypatch: pytest.MonkeyPatch
):
    (in_an_empty_folder / "arena.toml").write_text("port = 1\nteam = 'file'\nretries = 7\n")
    monkeypatch.setenv("ARENA_PORT", "2")
    monkeypatch.setenv("ARENA_TEAM", "variable")
    settings = read_settings(team="line")
    assert (settings.team, settings.port, settings.retries) == ("line", 2, 7)


def test_options_left_out_on_the_command_line_are_ignored(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ARENA_SERVER", "http://localhost:1")
    assert read_settings(server=None).server == "http://localhost:1"


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ARENA_HOME")
    without = read_settings()
    for name in Settings.model_fields:
        monkeypatch.setenv(f"ARENA_{name.upper()}", "")
    assert read_settings() == without


@pytest.mark.parametrize("name", ["home", "database_url"])
def test_an_empty_place_in_the_file_is_refused(
    in_an_empty_folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    monkeypatch.delenv("ARENA_HOME")
    (in_an_empty_folder / "arena.toml").write_text(f'{name} = ""\n')
    assert refused().endswith("is empty; leave it out for the default")


def test_an_unknown_key_of_the_file_is_refused_with_the_nearest_one(in_an_empty_folder: Path):
    (in_an_empty_folder / "arena.toml").write_text("prot = 1\n")
    assert refused() == "arena.toml: prot is not a setting; did you mean 'port'?"


@pytest.mark.parametrize(
    ("content", "prefix"),
    [
        (b"port = [", "arena.toml: "),  # not TOML
        (b"team = '\xff'", "arena.toml: "),  # not UTF-8
        (b"port = 'x'", "setting port (ARENA_PORT): "),
        (b"log_level = 'loud'", "setting log_level (ARENA_LOG_LEVEL): "),
    ],
)
def test_a_bad_file_is_reported_in_one_line(in_an_empty_folder: Path, content: bytes, prefix: str):
    (in_an_empty_folder / "arena.toml").write_bytes(content)
    message = refused()
    assert message.startswith(prefix)
    assert "\n" not in message


def test_a_folder_in_the_place_of_the_file_is_left_alone_or_reported(in_an_empty_folder: Path):
    (in_an_empty_folder / "arena.toml").mkdir()
    assert read_settings().port == 5109


def test_a_misspelt_variable_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ARENA_DATABASE_ULR", "postgresql://x")
    assert refused() == "ARENA_DATABASE_ULR is not a setting; did you mean ARENA_DATABASE_URL?"


def test_a_variable_of_another_program_is_ignored(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ARENA_OF_THE_CIRCUS", "1")
    assert read_settings().port == 5109


def test_lists_are_split(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ARENA_TESTS", os.pathsep.join(["/a", "/b"]))
    monkeypatch.setenv("ARENA_TOKENS", f"one:{SECRET}, two:{SECRET}2")
    settings = read_settings()
    assert settings.tests == (Path("/a"), Path("/b"))
    assert settings.team_by_token == {SECRET: "one", f"{SECRET}2": "two"}


@pytest.mark.parametrize(
    "tokens",
    [
        "short:abc",  # a token must be long
        f"no-colon-{SECRET}",
        f":{SECRET}",  # no team
        f"umlaut:{SECRET}ä",  # a header cannot carry it
        f"space:{SECRET} more",
        f"one:{SECRET},two:{SECRET}",  # whose is it?
    ],
)
def test_a_bad_token_is_refused_and_never_shown(tokens: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ARENA_TOKENS", tokens)
    message = refused()
    assert "ARENA_TOKENS" in message
    assert SECRET not in message
    assert "abc" not in message


def test_a_database_of_another_kind_is_refused_and_its_password_never_shown(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("ARENA_DATABASE_URL", f"mysql://me:{SECRET}@host/arena")
    message = refused()
    assert "postgresql://" in message
    assert SECRET not in message


@pytest.mark.parametrize(
    ("url", "database"),
    [
        ("postgresql://h/d", "postgresql+psycopg://h/d"),
        ("postgres://h/d", "postgresql+psycopg://h/d"),
        ("sqlite:///x.db", "sqlite+aiosqlite:///x.db"),
    ],
)
def test_the_driver_is_chosen_by_arena(url: str, database: str):
    assert read_settings(database_url=url).database == database


def test_secrets_do_not_show(monkeypatch: pytest.MonkeyPatch):
    settings = Settings(
        tokens=(f"team:{SECRET}",), token=SECRET, database_url=f"postgresql://me:{SECRET}@h/d"
    )
    for shown in (repr(settings), str(settings), settings.model_dump_json()):
        assert SECRET not in shown


@pytest.mark.parametrize("name", ["kubo_url", "chain_url"])
@pytest.mark.parametrize(
    "url", [f"ftp://h/{SECRET}", f"http:///{SECRET}", f"http://[{SECRET}", f"http://h:{SECRET}/"]
)
def test_an_invalid_address_that_may_hold_a_key_is_refused_without_showing_it(name: str, url: str):
    with pytest.raises(InvalidInput, match=f"ARENA_{name.upper()}") as caught:
        read_settings(**{name: url})
    assert SECRET not in caught.value.message


def test_gateways_are_addresses_of_hosts():
    settings = read_settings(ipfs_gateways="https://one.example, http://127.0.0.1:8080/")
    assert settings.ipfs_gateways == ("https://one.example", "http://127.0.0.1:8080/")
    with pytest.raises(InvalidInput, match="ARENA_IPFS_GATEWAYS"):
        read_settings(ipfs_gateways="one.example")


def test_the_home_may_be_written_with_a_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ARENA_HOME", "~/arena")
    assert read_settings().home == tmp_path / "arena"


def test_a_model_that_judges_twice_is_refused():
    assert "ARENA_JUDGE_VOTES" in refused(judge_models=("a", "b", "a"))
