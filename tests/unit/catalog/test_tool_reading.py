"""The tools of a test: what a file may say about them, and what a test keeps."""

import json
from pathlib import Path

import pytest

from arena.catalog.live import LiveCatalog
from arena.catalog.loader import read_source
from arena.catalog.test import Test
from arena.catalog.tool_reading import check_tools
from arena.errors import InvalidInput
from arena.models.played_tool import RecordedCall, ToolAnswer, ToolFault, played_tool

HEAD = """\
tests:
  - id: a
    name: A
    prompt: What is the weather in Bern?
    expected: {contains: [rain]}
    tools:
"""


def read(folder: Path, tools: str):
    path = folder / "tools.yaml"
    path.write_text(HEAD + tools)
    return read_source(path)


def the_test(folder: Path, tools: str) -> Test:
    source = read(folder, tools)
    assert source.problems == ()
    return source.tests[0]


def test_the_ways_to_answer(tmp_path: Path):
    test = the_test(
        tmp_path,
        """\
      - name: weather
        description: The weather of a city.
        parameters: {type: object, properties: {city: {type: string}}, required: [city]}
        answers:
          - {arguments: {city: Bern}, answer: rain}
          - arguments: {city: Genf}
            fault: {kind: error, message: no station, calls: [1]}
            answer: 1
          - {arguments: {city: Basel}, fault: timeout}
          - answer: {sky: blue}
      - {name: time, answer: "12:00", fault: {kind: garbage, calls: [2]}}
      - {name: broken, fault: error}
      - {name: noted, recorded: [{arguments: {a: 1}, result: 2}, {error: gone}]}
""",
    )
    assert test.tools is not None
    weather, time, broken, noted = map(played_tool, test.tools)
    assert weather.answers == (
        ToolAnswer(arguments={"city": "Bern"}, answer="rain"),
        ToolAnswer(
            arguments={"city": "Genf"},
            answer=1,
            fault=ToolFault(kind="error", message="no station", calls=(1,)),
        ),
        ToolAnswer(arguments={"city": "Basel"}, fault=ToolFault(kind="timeout")),
        ToolAnswer(answer={"sky": "blue"}),
    )
    assert time.answers == (ToolAnswer(answer="12:00"),)
    assert time.fault == ToolFault(kind="garbage", calls=(2,))
    assert broken.fault == ToolFault(kind="error")
    assert broken.parameters == {"type": "object", "properties": {}}
    assert noted.recorded == (
        RecordedCall(arguments={"a": 1}, result=2),
        RecordedCall(error="gone"),
    )


def test_a_test_with_tools_survives_storing_and_has_a_digest_of_its_own(tmp_path: Path):
    test = the_test(tmp_path, "      - {name: time, answer: 1}\n")
    assert Test.from_json(json.loads(json.dumps(test.as_json()))) == Test.from_json(test.as_json())
    other = the_test(tmp_path, "      - {name: time, answer: 2}\n")
    assert test.digest != other.digest
    assert test.fingerprint != other.fingerprint


@pytest.mark.parametrize("is_answer", [False, True])
def test_a_cassette_is_put_into_the_test(tmp_path: Path, is_answer: bool):
    steps = [
        {"tool": "weather", "arguments": {"city": "Bern"}, "result": "rain", "time": None},
        {"tool": "other", "arguments": {}},
        {"tool": "weather", "arguments": {"city": "Genf"}, "error": "no station"},
    ]
    content = {"output": "x", "steps": steps} if is_answer else steps
    (tmp_path / "tapes").mkdir()
    (tmp_path / "tapes/bern.json").write_text(json.dumps(content))
    test = the_test(tmp_path, "      - {name: weather, cassette: tapes/bern.json}\n")
    assert test.tools == (
        {
            "name": "weather",
            "recorded": [
                {"arguments": {"city": "Bern"}, "result": "rain"},
                {"arguments": {"city": "Genf"}, "error": "no station"},
            ],
        },
    )


@pytest.mark.parametrize(
    ("tools", "problem"),
    [
        ("      []\n", "7:7: tools: must not be empty"),
        ("      - 1\n", "tools[0]: must be a mapping"),
        ("      - {answer: 1}\n", "7:9: tools[0]: needs the key 'name'"),
        ("      - {name: a b, answer: 1}\n", "7:16: tools[0].name: must be 1 to 64 letters"),
        ("      - {name: a}\n", "7:9: tools[0]: needs one of the keys answer, answers, recorded"),
        ("      - {name: a, anser: 1}\n", "7:19: tools[0]: unknown key 'anser'; did you mean"),
        ("      - {name: a, answer: 1, recorded: [{}]}\n", "a tool has only one of answer"),
        (
            "      - {name: a, answer: 1, parameters: {type: object, required: 1}}\n",
            "7:42: tools[0].parameters: is not a JSON Schema",
        ),
        (
            "      - {name: a, answer: 1, parameters: {type: string}}\n",
            "tools[0].parameters: must be a JSON Schema with type: object",
        ),
        ("      - {name: a, fault: late}\n", "tools[0].fault.kind: must be 'timeout', 'error' or"),
        ("      - {name: a, fault: {kind: error, calls: [1]}}\n", "needs one of the keys"),
        ("      - {name: a, fault: {kind: error, calls: [0]}}\n", "fault.calls[0]: must be 1 or"),
        ("      - {name: a, fault: {kind: garbage, message: b}}\n", "not for garbage"),
        ("      - {name: a, answers: [{arguments: {}}]}\n", "answers[0]: needs the key 'answer'"),
        ("      - {name: a, answers: [{answer: 1, fault: error}]}\n", "say with 'calls'"),
        ("      - {name: a, answers: [{arguments: 1, answer: 1}]}\n", "must be a mapping"),
        ("      - {name: a, recorded: [{result: 1, x: 2}]}\n", "recorded[0]: unknown key 'x'"),
        ("      - {name: a, cassette: no.json}\n", "tools[0].cassette: no.json: cannot be read"),
        ("      - {name: a, cassette: bad.json}\n", "bad.json: Expecting"),
        ("      - {name: a, cassette: other.json}\n", "other.json: has no calls of a"),
        ("      - {name: a, cassette: /etc/hosts}\n", "seen from the test file"),
        (
            "      - {name: a, answer: 1}\n      - {name: a, answer: 2}\n",
            "8:16: tools[1].name: another tool has this name",
        ),
    ],
)
def test_problems_have_positions(tmp_path: Path, tools: str, problem: str):
    (tmp_path / "bad.json").write_text("[")
    (tmp_path / "other.json").write_text('[{"tool": "b"}]')
    source = read(tmp_path, tools)
    assert not source.tests
    [found] = source.problems
    assert problem in str(found), str(found)


def test_a_changed_cassette_is_noticed(tmp_path: Path):
    tape = tmp_path / "tape.json"
    path = tmp_path / "tools.yaml"
    path.write_text(HEAD + "      - {name: a, cassette: tape.json}\n")
    catalog = LiveCatalog([path], builtin=False)
    assert "tape.json: cannot be read" in str(catalog.current.problems[0])
    for result in (1, 22, 333):
        tape.write_text(json.dumps([{"tool": "a", "result": result}]))
        [test] = catalog.refresh().tests
        assert test.tools == ({"name": "a", "recorded": [{"result": result}]},)
    assert catalog.refresh() is catalog.refresh()


def test_tools_of_a_pushed_test_cannot_name_a_file():
    check_tools([{"name": "a", "answer": 1}])
    with pytest.raises(InvalidInput, match="cassette"):
        check_tools([{"name": "a", "cassette": "a.json"}])
