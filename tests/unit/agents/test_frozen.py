from pathlib import Path

import pytest

from arena.agents.agent_file import read_agent
from arena.agents.frozen import digest_of, freeze, thaw
from arena.agents.placement import host_label, label_of
from arena.agents.registry import BUILTIN_DIRECTORY, Registry

FILES = {
    "command": """
        id: one
        connector: {type: command, command: "python3 agent.py {prompt}", env: [TOKEN]}
        limits: {max_concurrency: 3, per_minute: 60}
    """,
    "python": "{id: two, connector: {type: python, callable: 'my_agent:answer'}, tags: [a, b]}",
    "http": """
        id: three
        name: Three
        traces: {wait_seconds: 2}
        connector:
          type: http
          url: https://agents.example.com/ask
          headers: {Authorization: "Bearer ${SECRET}"}
          usage: {input_tokens: /usage/in}
    """,
    "openai": """
        id: four
        placement: gpu
        connector:
          type: openai
          base_url: http://127.0.0.1:8000/v1
          model: own
          price: {input_usd_per_million: 1, output_usd_per_million: 2}
          options: {reasoning: {effort: low}}
    """,
    "a2a": "{id: five, connector: {type: a2a, url: 'https://a2a.example.com'}}",
}


def read(folder: Path, kind: str):
    path = folder / "agent.yaml"
    path.write_text(FILES[kind])
    return read_agent(path)[0]


@pytest.mark.parametrize("kind", FILES)
def test_an_agent_is_the_same_after_freezing(kind: str, tmp_path: Path):
    agent = read(tmp_path, kind)
    assert thaw(freeze(agent)) == agent


def test_bundled_agents_are_found_wherever_arena_is_installed():
    for agent in Registry().agents:
        body = freeze(agent)
        assert str(BUILTIN_DIRECTORY) not in str(body)
        assert thaw(body) == agent


def test_a_frozen_agent_has_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET", "sesame-open")
    assert "sesame-open" not in str(freeze(read(tmp_path, "http")))


def test_the_digest_changes_with_any_key(tmp_path: Path):
    assert digest_of(freeze(read(tmp_path, "http"))) != digest_of(freeze(read(tmp_path, "a2a")))


@pytest.mark.parametrize(
    ("kind", "label"),
    [
        ("command", "here"),  # a program
        ("python", "here"),
        ("http", None),  # elsewhere in the network
        ("openai", "gpu"),  # says so itself
        ("a2a", None),
    ],
)
def test_agents_that_need_this_machine_are_placed_here(
    kind: str, label: str | None, tmp_path: Path
):
    expected = host_label() if label == "here" else label
    assert label_of(read(tmp_path, kind)) == expected


def test_bundled_agents_run_anywhere():
    assert {label_of(agent) for agent in Registry().agents} == {None}
