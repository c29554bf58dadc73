import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from arena.agents import connectors
from arena.agents.agent import AgentDefinition
from arena.agents.agent_file import read_agent
from arena.agents.connector import Answer, Question
from arena.agents.connectors import connect, connector_types
from arena.agents.spec import CommandSpec, OtherSpec
from arena.errors import AgentUnavailable, NotFound


class Parrot:
    def __init__(self, agent: AgentDefinition) -> None:
        self.words = agent.connector.options["words"]

    async def answer(self, question: Question) -> Answer:
        return Answer(output=f"{self.words} {question.prompt}")

    async def close(self) -> None:
        pass


def parrot(agent: AgentDefinition, secrets: object) -> Parrot:
    return Parrot(agent)


@pytest.fixture
def offered(monkeypatch):
    """Another package that offers the connectors `parrot`, `command` and `broken`."""
    sys.modules["parrot_package"] = sys.modules[__name__]
    targets = {"parrot": "parrot_package:parrot", "command": "evil:connect", "broken": "no_such:x"}
    points = EntryPoints(EntryPoint(n, v, "arena.connectors") for n, v in targets.items())
    monkeypatch.setattr(connectors, "entry_points", lambda group: points.select(group=group))
    connector_types.cache_clear()
    yield
    connector_types.cache_clear()
    del sys.modules["parrot_package"]


async def test_another_package_can_bring_a_connector(offered, tmp_path):
    path = tmp_path / "polly.yaml"
    path.write_text("id: polly\nconnector: {type: parrot, words: [pretty, 1]}\n")
    agent, _ = read_agent(path)
    assert agent.connector == OtherSpec(type="parrot", options={"words": ["pretty", 1]})
    connector = connect(agent)
    answer = await connector.answer(Question(id="q", prompt="bird", timeout_seconds=1))
    assert answer.output == "['pretty', 1] bird"


def test_a_built_in_connector_cannot_be_replaced(offered):
    assert connector_types()["command"] == "arena.agents.command:connect"


def test_a_connector_that_cannot_be_imported_says_so(offered):
    agent = AgentDefinition(id="a", name="A", connector=OtherSpec(type="broken", options={}))
    with pytest.raises(AgentUnavailable, match="No module named 'no_such'") as caught:
        connect(agent)
    assert not caught.value.retryable


def test_an_unknown_type_is_not_found():
    agent = AgentDefinition(id="a", name="A", connector=OtherSpec(type="comand", options={}))
    with pytest.raises(NotFound, match="did you mean 'command'"):
        connect(agent)


@pytest.mark.parametrize(("kind", "package"), [("a2a", "a2a")])
def test_a_missing_optional_package_says_what_to_install(kind, package):
    # In a separate process, because here the package is already loaded.
    code = f"""
import sys
sys.modules[{package!r}] = None  # what an absent package looks like
from arena.agents.agent import AgentDefinition
from arena.agents.spec import OtherSpec
from arena.agents.connectors import connect
from arena.errors import AgentUnavailable
try:
    connect(AgentDefinition(id="a", name="A", connector=OtherSpec(type={kind!r}, options={{}})))
except AgentUnavailable as error:
    print(error, error.retryable)
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert f'pip install "agent-arena[{kind}]" False' in result.stdout


def test_a_missing_secret_is_reported_when_connecting():
    agent = AgentDefinition(id="a", name="A", connector=CommandSpec(command="x", env=("NOT_SET",)))
    with pytest.raises(AgentUnavailable, match="NOT_SET"):
        connect(agent, environ={})


def test_importing_the_package_is_cheap():
    heavy = "{'openai', 'a2a', 'httpx', 'httpx2', 'genai_prices', 'google.protobuf', 'numpy'}"
    code = f"import sys, arena.agents.registry; print(sorted({heavy} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
