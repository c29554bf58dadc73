"""The examples of the guide are files that Arena reads, and the example agent runs."""

import re
from pathlib import Path

import pytest

from arena.agents.agent_file import read_agent
from arena.agents.connector import Question
from arena.agents.connectors import connect
from arena.agents.registry import Registry
from arena.agents.spec import SPECS, TracesSpec

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs/guide/connect-an-agent.md").read_text(encoding="utf-8")
TRACES = (ROOT / "docs/traces.md").read_text(encoding="utf-8")
BLOCKS = [
    block if block.startswith("id:") else f"id: example\n{block}"
    for block in re.findall(r"```yaml\n(.*?)```", GUIDE + TRACES, re.DOTALL)
]


@pytest.mark.parametrize("block", BLOCKS)
def test_every_example_of_the_guide_is_a_valid_file(tmp_path, block):
    path = tmp_path / "example.yaml"
    path.write_text(block, encoding="utf-8")
    read_agent(path)


def test_the_guide_shows_every_connector():
    types = set(re.findall(r"type: (\w+)", GUIDE))
    assert types >= set(SPECS)


@pytest.mark.parametrize(
    ("prompt", "output"),
    [
        ("What is the sum of 19, 23 and 58?", "The sum is 100."),
        ('How many words are in "the quick brown fox jumps"?', "There are 5 words."),
        ("What is 12 times 12?", "I can only add numbers and count words."),
    ],
)
async def test_the_example_agent_answers(prompt, output):
    registry = Registry([ROOT / "examples/my-agent"], builtin=None)
    assert registry.problems == ()
    connector = connect(registry.find("my-agent"))
    answer = await connector.answer(Question(id="q", prompt=prompt, timeout_seconds=20))
    await connector.close()
    assert answer.output == output
    assert answer.usage.output_tokens == len(output.split())


async def test_the_program_of_the_page_about_traces(bench, ask):
    (program,) = re.findall(r"```python\n(.*?)```", TRACES, re.DOTALL)
    answer = await ask(bench.command(program, traces=TracesSpec(wait_seconds=30)))
    assert answer.output == "It is raining."
    (step,) = answer.steps
    assert (step.tool, step.arguments, step.result) == (
        "weather",
        {"city": "Bern"},
        {"sky": "rain"},
    )
