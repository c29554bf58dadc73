from pathlib import Path

import pytest

from arena.agents.agent import AgentLimits
from arena.agents.agent_file import BadFile, read_agent
from arena.agents.spec import (
    A2ASpec,
    CommandSpec,
    HttpSpec,
    OpenAISpec,
    PythonSpec,
    TracesSpec,
    UsagePointers,
)

GOOD = """\
id: my-agent
version: 1.2.3
name: My agent
nickname: Mia
description: What it is for
tags: [web, fast]
connector: {type: command, command: "python3 my_agent.py", persistent: true, env: [MY_KEY]}
limits: {max_concurrency: 2, per_minute: 60}
"""


def read(tmp_path: Path, text: str):
    path = tmp_path / "my-agent.yaml"
    path.write_text(text, encoding="utf-8")
    return read_agent(path)[0]


def problems(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(BadFile) as caught:
        read(tmp_path, text)
    return [str(problem).removeprefix(f"{tmp_path}/") for problem in caught.value.problems]


def with_connector(connector: str) -> str:
    return f"id: a\nconnector: {connector}\n"


def test_every_key_of_the_file_arrives(tmp_path):
    agent = read(tmp_path, GOOD)
    assert agent.reference == "my-agent@1.2.3"
    assert (agent.name, agent.nickname, agent.description) == ("My agent", "Mia", "What it is for")
    assert agent.tags == ("web", "fast")
    assert agent.connector == CommandSpec(
        command="python3 my_agent.py", persistent=True, env=("MY_KEY",)
    )
    assert agent.limits == AgentLimits(max_concurrency=2, per_minute=60)
    assert agent.directory == tmp_path


def test_what_is_left_out_has_a_default(tmp_path):
    agent = read(tmp_path, with_connector('{type: python, callable: "m:f"}'))
    assert (agent.version, agent.name, agent.nickname) == ("1.0.0", "a", None)
    assert agent.limits == AgentLimits(max_concurrency=4, per_minute=None)


@pytest.mark.parametrize(
    ("connector", "spec"),
    [
        ("{type: command, command: run}", CommandSpec(command="run")),
        (
            '{type: python, callable: "pack.mod:Class.call"}',
            PythonSpec(callable="pack.mod:Class.call"),
        ),
        (
            "{type: http, url: 'http://localhost:8000/ask'}",
            HttpSpec(url="http://localhost:8000/ask"),
        ),
        (
            "{type: http, url: 'https://h/', body: {q: ['{prompt}', 1, null]}, answer: /a/0,"
            " usage: {input_tokens: usage.in}, headers: {Authorization: 'Bearer ${KEY}'}}",
            HttpSpec(
                url="https://h/",
                body={"q": ["{prompt}", 1, None]},
                answer="/a/0",
                usage=UsagePointers(input_tokens="usage.in"),
                headers={"Authorization": "Bearer ${KEY}"},
            ),
        ),
        (
            "{type: openai, base_url: 'http://h/v1', model: m, temperature: 1, max_tokens: 9}",
            OpenAISpec(base_url="http://h/v1", model="m", temperature=1.0, max_tokens=9),
        ),
        ("{type: a2a, url: 'http://h:9/'}", A2ASpec(url="http://h:9/")),
    ],
)
def test_each_type_of_connector_has_its_keys(tmp_path, connector, spec):
    assert read(tmp_path, with_connector(connector)).connector == spec


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # an unknown key, with the nearest known one
        (GOOD + "nam: x\n", "my-agent.yaml:9:1: unknown key 'nam'; did you mean 'name'?"),
        (
            with_connector("{type: command, comand: x, command: y}"),
            "my-agent.yaml:2:28: connector: unknown key 'comand'; did you mean 'command'?",
        ),
        (
            with_connector("{type: command, command: y}\nlimits: {per_minut: 3}"),
            "my-agent.yaml:3:10: limits: unknown key 'per_minut'; did you mean 'per_minute'?",
        ),
        (
            with_connector("{type: http, url: 'http://h', usage: {tokens: a}}"),
            "my-agent.yaml:2:50: connector.usage: unknown key 'tokens'; did you mean 'input",
        ),
        # missing keys
        ("connector: {type: command, command: x}", "my-agent.yaml:1:1: needs the key 'id'"),
        ("id: a", "my-agent.yaml:1:1: needs the key 'connector'"),
        (
            with_connector("{type: command}"),
            "yaml:2:12: connector: needs the key 'command'",
        ),
        (
            with_connector("{command: x}"),
            "my-agent.yaml:2:12: connector: needs the key 'type':"
            " one of a2a, command, http, openai, python",
        ),
        # the wrong type of value
        (
            GOOD.replace("1.2.3", "1.2"),
            "my-agent.yaml:2:10: version: must be a string, is a number: quote it",
        ),
        (
            GOOD.replace("[web, fast]", "web"),
            "my-agent.yaml:6:7: tags: must be a list, is a string",
        ),
        (
            GOOD.replace("per_minute: 60", "per_minute: '60'"),
            "my-agent.yaml:8:42: limits.per_minute: must be a whole number, is a string:"
            " remove the quotes",
        ),
        (
            GOOD.replace("persistent: true", "persistent: 1"),
            "my-agent.yaml:7:72: connector.persistent: must be true or false, is a number",
        ),
        ("id: a\nconnector: [1]\n", "my-agent.yaml:2:12: connector: must be a mapping"),
        ("- a\n", "my-agent.yaml:1:1: must be a mapping, is a list"),
        # values out of bounds
        (
            GOOD.replace("my-agent", "My Agent"),
            "my-agent.yaml:1:5: id: must be lower-case letters, digits and hyphens",
        ),
        (GOOD.replace("my-agent", "a" * 101), "must have at most 100 characters"),
        (
            GOOD.replace("1.2.3", "v1"),
            "my-agent.yaml:2:10: version: must be a semantic version such as 1.0.0",
        ),
        (GOOD.replace("1.2.3", f"1.0.0-{'a' * 15}"), "must have at most 20 characters"),
        (
            GOOD.replace("max_concurrency: 2", "max_concurrency: 0"),
            "limits.max_concurrency: must be 1 or more, is 0",
        ),
        # keys of a connector
        (
            with_connector("{type: comand, command: x}"),
            "my-agent.yaml:2:19: connector.type: unknown type \"comand\"; did you mean 'command'?",
        ),
        (with_connector("{type: 3}"), "unknown type 3; known: a2a, command"),
        (with_connector('{type: command, command: "a \'b"}'), "No closing quotation"),
        (with_connector("{type: command, command: ''}"), "names no program"),
        (
            with_connector("{type: command, command: '{prompt} x'}"),
            "my-agent.yaml:2:37: connector.command: must name a program first",
        ),
        (
            with_connector("{type: command, command: 'x {prompt}', persistent: true}"),
            "my-agent.yaml:2:12: connector: must not have {prompt}: a persistent program reads",
        ),
        (
            with_connector("{type: command, command: x, input: text, persistent: true}"),
            "connector: must not have 'input': a persistent program reads lines of JSON",
        ),
        (
            with_connector("{type: command, command: x, input: none}"),
            "connector: must have {prompt} in its command if 'input' is none",
        ),
        (
            with_connector("{type: command, command: x, input: xml}"),
            "my-agent.yaml:2:47: connector.input: must be 'json', 'text' or 'none'",
        ),
        (with_connector("{type: python, callable: 'm:f', python: ''}"), "must be a path"),
        (with_connector("{type: python, callable: 'm:f', path: ['']}"), "must be a path"),
        (with_connector("{type: python, callable: f}"), "must be module:function"),
        (with_connector("{type: http, url: 'ftp://h'}"), "begins with http:// or https://"),
        (
            with_connector("{type: http, url: 'http://u:p@h'}"),
            "must not contain a user or password",
        ),
        (with_connector("{type: http, url: 'http://h:x'}"), "is not a valid address"),
        (
            with_connector("{type: http, url: 'http://h', headers: {X-Api-Key: abc}}"),
            "my-agent.yaml:2:51: connector.headers: has a 'X-Api-Key' that looks like a secret:"
            " put it in an environment variable",
        ),
        (
            with_connector("{type: http, url: 'http://h', headers: {Host: h}}"),
            "which is set by Arena itself",
        ),
        (with_connector("{type: http, url: 'http://h', headers: {X: \"a\\nb\"}}"), "one line"),
        (with_connector("{type: http, url: 'http://h', headers: {X: '${A B}'}}"), "not the name"),
        (
            with_connector(
                "{type: openai, base_url: 'http://h', model: m, options: {stream: yes}}"
            ),
            "connector.options: must not have 'stream': Arena reads whole answers",
        ),
        (
            with_connector(
                "{type: openai, base_url: 'http://h', model: m, max_tokens: 9,"
                " options: {max_tokens: 8}}"
            ),
            "connector: must have 'max_tokens' once",
        ),
        (
            with_connector(
                "{type: openai, base_url: 'http://h', model: m, api_key_env: K,"
                " headers: {authorization: '${K}'}}"
            ),
            "connector: must have 'api_key_env' or a header 'Authorization', not both",
        ),
        (
            with_connector(
                "{type: openai, base_url: 'http://h', model: m,"
                " price: {input_usd_per_milion: 1, output_usd_per_million: 1,"
                " input_usd_per_million: 1}}"
            ),
            "connector.price: unknown key 'input_usd_per_milion'; did you mean 'input_usd_per_mil",
        ),
        (with_connector("{type: command, command: x, env: [KEY=abc]}"), "must be the name of an"),
        (with_connector("{type: http, url: 'http://h', answer: /}"), "must be a path such as"),
    ],
)
def test_a_problem_says_where_what_and_what_is_allowed(tmp_path, text, expected):
    found = problems(tmp_path, text)
    assert len(found) == 1
    assert expected in found[0]


def test_all_problems_of_a_file_are_reported_at_once(tmp_path):
    text = "id: A B\nversion: x\ncolour: red\nconnector: {type: python}\n"
    lines = [problem.split(":")[1] for problem in problems(tmp_path, text)]
    assert lines == ["1", "2", "3", "4"]


SECRET = "abc123"


@pytest.mark.parametrize(
    "connector",
    [
        "{type: http, url: 'http://h', headers: {Authorization: Bearer abc123}}",
        "{type: http, url: 'http://h', headers: {Authorization: 'Bearer ${abc123!}'}}",
        "{type: http, url: 'http://h', headers: {'Authorization: abc123': x}}",
        "{type: http, url: 'http://h', headers: ['Authorization: abc123']}",
        "{type: http, url: 'http://h', headers: 'Authorization: abc123'}",
        "{type: http, url: 'http://u:abc123@h'}",
        "{type: http, url: 'http://u:abc123/9@h'}",
        "{type: http, url: 'ftp://h/?key=abc123'}",
        "{type: openai, base_url: 'http://h', model: m, api_key_env: sk-abc123}",
        "{type: command, command: x, env: [KEY=abc123]}",
        "{type: command, command: x, env: {KEY: abc123}}",
        '{type: command, command: "x --key \'abc123"}',
        "[{headers: {Authorization: abc123}}]",
    ],
)
def test_a_problem_never_quotes_what_may_be_a_secret(tmp_path, connector):
    found = problems(tmp_path, with_connector(connector))
    assert len(found) == 1
    assert SECRET not in found[0]


def test_a_problem_of_the_whole_file_does_not_quote_it(tmp_path):
    for text in (f"- connector: {{headers: {{Authorization: {SECRET}}}}}\n", f"{SECRET}\n"):
        (problem,) = problems(tmp_path, text)
        assert problem.startswith("my-agent.yaml:1:1: must be a mapping, is a ")
        assert SECRET not in problem


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("true", TracesSpec()),
        ("false", None),
        ("null", None),
        ("{}", TracesSpec(wait_seconds=1)),
        (
            "{wait_seconds: 0, port: 4318, token_env: MY_TOKEN}",
            TracesSpec(wait_seconds=0, port=4318, token_env="MY_TOKEN"),
        ),
    ],
)
def test_traces(tmp_path, written, read_as):
    agent = read(tmp_path, with_connector("{type: command, command: run}") + f"traces: {written}")
    assert agent.traces == read_as


@pytest.mark.parametrize(
    ("traces", "problem"),
    [
        ("{wait: 1}", "3:10: traces: unknown key 'wait'; known: port, token_env, wait_seconds"),
        ("5", "3:9: traces: must be a mapping, is a number"),
        ("{wait_seconds: 61}", "3:24: traces.wait_seconds: must be at most 60, is 61"),
        ("{port: 99999}", "3:16: traces.port: must be at most 65535, is 99999"),
    ],
)
def test_traces_of_another_form_are_refused(tmp_path, traces, problem):
    text = with_connector("{type: command, command: run}") + f"traces: {traces}"
    assert problems(tmp_path, text) == [f"my-agent.yaml:{problem}"]


def test_an_agent_that_cannot_be_told_where_to_send_spans_has_none(tmp_path):
    text = with_connector("{type: a2a, url: https://a.example}") + "traces: true"
    assert problems(tmp_path, text) == [
        "my-agent.yaml:3:9: traces: is not for the connector 'a2a', only for: command, python, http"
    ]
