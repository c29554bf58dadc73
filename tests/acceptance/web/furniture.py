"""A home with sample data: agents, runs of every kind, ratings."""

from pathlib import Path

import httpx2
import yaml

from acceptance.conftest import Shell
from factories import write_agent

LAB = ("qa-web-manager", "qa-mobile-manager", "monitoring-manager", "ai-assistant")
HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
    "<a href='javascript:window.hacked = 3'>click</a> "
    "a\u202eb\u202c c\u200bd \u05e9\u05dc\u05d5\u05dd"
)
SCRIBE = """
number = int(prompt.split()[-1])
usage = {"input_tokens": 40 * number, "output_tokens": 9 * number, "cost_usd": COST * number}
if number % WEAK == 0:
    return {"output": "I do not know.", "usage": usage}
return {"output": f"The word is WORD{number}.", "usage": usage}
"""


def furnish(shell: Shell) -> None:
    """Fill the home through the API, as a user would."""
    agents, tests = shell.home / "agents", shell.home / "benchmarks"
    for version, weak, cost in (("1.0.0", 2, 0.002), ("1.1.0", 3, 0.003), ("2.0.0", 7, 0.001)):
        body = SCRIBE.replace("WEAK", str(weak)).replace("COST", str(cost))
        fields = {"version": version, "name": "Scribe", "description": "Finds words"}
        write_agent(agents, f"scribe-{version.replace('.', '-')}", body, id="scribe", **fields)
    hostile = f"return {HOSTILE!r} + ('x' * 1_050_000 if 'long' in prompt else '')"
    write_agent(agents, "hostile", hostile, description="Says what no page should run")
    coin = "path = __file__ + '.count'\nn = int(open(path).read()) if os.path.exists(path) else 0\n"
    coin += "open(path, 'w').write(str(n + 1))\nreturn 'heads' if n % 3 else 'tails'"
    unsure = "Never sure, and never tired of saying so. " * 8
    write_agent(agents, "coin", coin, description=unsure, limits={"max_concurrency": 1})
    # Its card is taller than its neighbours.
    fields = {"name": "Broken from the first day on", "description": "Cannot be loaded. " * 12}
    broken = write_agent(agents, "broken", "return 'never'", **fields)
    broken.with_suffix(".py").write_text("import a_module_that_is_nowhere\n")
    write_agent(
        agents, "slow", "time.sleep(0.5)\nreturn prompt.upper()", limits={"max_concurrency": 1}
    )
    _write_tests(tests)
    with shell.serving() as client:
        for agent in LAB:
            _run(client, agent)
        for version in ("1.0.0", "1.1.0", "2.0.0"):
            _run(client, "scribe", version=version)
        _run(client, "hostile")
        _run(client, "coin", trials=6)
        _run(client, "broken")
        for agent, stars in (("qa-web-manager", 5), ("qa-mobile-manager", 4), ("scribe", 4)):
            _rate(client, agent, stars)


def _write_tests(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    words = [_test(f"word_{n:02}", f"Word {n}", f"say word {n}", f"WORD{n}") for n in range(1, 25)]
    for number, test in enumerate(words):
        test |= {"agents": ["scribe"], "category": "letters" if number % 2 else "words"}
    hostile = [
        _test("hostile_text", "Hostile text", "Say something", "javascript"),
        _test("hostile_long", "A very long line", "Say something long", "javascript"),
    ]
    for test in hostile:
        test["agents"] = ["hostile"]
    coin = [_test(f"coin_{n}", f"Toss {n}", f"toss {n}", "heads") for n in (1, 2)]
    for test in coin:
        test["agents"] = ["coin"]
    broken = [{**_test("never", "Never asked", "Say something", "never"), "agents": ["broken"]}]
    slow = [
        {**_test(f"slow_{n}", f"Slow {n}", f"say word{n}", f"word{n}"), "agents": ["slow"]}
        for n in range(1, 7)
    ]
    by_category: dict[str, list[dict[str, object]]] = {"words": [], "letters": []}
    for test in words:
        by_category[str(test.pop("category"))].append(test)
    groups = {**by_category, "hostile": hostile, "chance": coin, "broken": broken, "slow": slow}
    for category, tests in groups.items():
        text = yaml.safe_dump({"category": category, "tests": tests}, sort_keys=False)
        (folder / f"{category}.yaml").write_text(text)


def _test(test_id: str, name: str, prompt: str, word: str) -> dict[str, object]:
    return {"id": test_id, "name": name, "prompt": prompt, "expected": {"contains": [word]}}


def _run(client: httpx2.Client, agent_id: str, **options: object) -> None:
    created = client.post("/api/benchmarks/run", json={"agent_id": agent_id, **options})
    assert created.status_code == 200, created.text
    done = client.post(f"/api/benchmarks/run/{created.json()['run_id']}/execute")
    assert done.status_code == 200, done.text


def _rate(client: httpx2.Client, agent_id: str, stars: int) -> None:
    vote = {"agent_id": agent_id, "rating": stars, "user_id": "ada", "comment": "Does its work"}
    assert client.post("/api/benchmarks/feedback", json=vote).status_code == 200
