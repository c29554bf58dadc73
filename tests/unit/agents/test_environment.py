import pytest

from arena.agents.secrets import Secrets, program_environment
from arena.errors import AgentUnavailable

ENVIRON = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "LANG": "C",
    "LC_ALL": "C.UTF-8",
    "TMPDIR": "/tmp",
    "TZ": "UTC",
    "PYTHONPATH": "/x",
    "LD_PRELOAD": "/evil.so",
    "ARENA_DATABASE_URL": "postgresql://secret",
    "OPENAI_API_KEY": "sk-123456",
}


def test_a_program_inherits_only_a_few_variables():
    assert program_environment((), Secrets(ENVIRON)) == {
        "PATH": "/bin",
        "HOME": "/home/me",
        "LANG": "C",
        "LC_ALL": "C.UTF-8",
        "TMPDIR": "/tmp",
        "TZ": "UTC",
        "PYTHONUTF8": "1",
        "PYTHONUNBUFFERED": "1",
    }


def test_a_named_variable_is_added_and_becomes_a_secret():
    secrets = Secrets(ENVIRON)
    environment = program_environment(("OPENAI_API_KEY",), secrets)
    assert environment["OPENAI_API_KEY"] == "sk-123456"
    assert secrets.redact("sk-123456 /home/me") == "[redacted] /home/me"


def test_a_named_variable_that_is_not_set_is_an_error():
    with pytest.raises(AgentUnavailable, match="NOT_SET"):
        program_environment(("NOT_SET",), Secrets(ENVIRON))
