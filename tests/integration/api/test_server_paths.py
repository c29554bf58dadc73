"""No response contains an absolute path of the server."""

from pathlib import Path
from typing import Any

import pytest

import arena
from arena.api.server_paths import ServerPaths
from arena.settings import Settings
from factories import write_agent, write_tests

MISSING = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
NOBODY = "00000000-0000-0000-0000-000000000000"
KEYS = ("agent_id", "run_id", "test_id", "cid", "task_id", "review_id", "name")


def spoil(tmp_path: Path) -> dict[str, tuple[Path, ...]]:
    """Folders with every kind of problem; returns the settings that name some of them."""
    home, tests, agents = tmp_path / "home", tmp_path / "suites", tmp_path / "others"
    for folder in (home / "benchmarks", tests):
        write_tests(folder / "twice.yaml", count=1)
        (folder / "bad.yaml").write_text("tests: [")
        (folder / "link.yaml").symlink_to(tmp_path / "target.yaml")
        (folder / "folder.yaml").mkdir()
    for folder in (home / "agents", agents):
        write_agent(folder, "twice", "return ''")
        write_agent(folder, "raises", "import nothing_like_this")
        (folder / "bad.yaml").write_text("id: bad\nversion: [")
        (folder / "gone.yaml").write_text(
            "id: gone\nversion: 1.0.0\nconnector:\n  type: command\n  command: ./nothing\n"
        )
    return {"tests": (tests, tmp_path / "absent"), "agents": (agents,)}


async def test_no_response_contains_a_path_of_the_server(opened, tmp_path: Path):
    async with opened(**spoil(tmp_path)) as client:
        paths = (await client.get("/api/openapi.json")).json()["paths"]
        answers = [await client.get(path) for path in addresses(paths)]
        for name in ("gone", "raises", "bad", "twice"):
            answers.append(await client.post(f"/api/agents/{name}/check", json={}))
            answers.append(await client.post("/api/benchmarks/run", json={"agent_id": name}))
        kept = (await client.post("/api/content", content=b"kept")).json()["cid"]
        (block,) = (tmp_path / "home" / "content").rglob(kept)
        block.write_bytes(b"damaged")
        answers.append(await client.get(f"/api/content/{kept}"))
        block.unlink()
        block.mkdir()
        answers.append(await client.get(f"/api/content/{kept}"))
        answers.append(await client.post("/api/content", content=b"kept"))
    assert {answer.status_code for answer in answers} >= {200, 404, 422, 503}
    for answer in answers:
        assert str(tmp_path) not in answer.text, answer.url
        assert str(Path(arena.__file__).parent) not in answer.text, answer.url
    catalog = next(one for one in answers if one.url.path == "/api/benchmarks/catalog").json()
    files = {source["file"] for source in catalog["sources"]}
    assert "arena/catalog/builtin/navigation.yaml" in files
    assert {"benchmarks/twice.yaml", "suites/twice.yaml"} <= files


def addresses(paths: dict[str, dict[str, Any]]) -> list[str]:
    """Every address to read from that ends, with names that are unknown or bad."""
    found: list[str] = []
    for path, methods in paths.items():
        if "get" not in methods or "text/event-stream" in str(methods["get"]["responses"]):
            continue
        for name in ("bad", "gone", MISSING, NOBODY) if "{" in path else ("",):
            found.append(filled(path, name))
    return [*found, f"/api/archive?cid={MISSING}"]


def filled(path: str, name: str) -> str:
    for key in KEYS:
        path = path.replace(f"{{{key}}}", name)
    return path


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/srv/arena/benchmarks/a.yaml:1:1: bad", "benchmarks/a.yaml:1:1: bad"),
        ("cannot open /srv/arena/arena.db", "cannot open home/arena.db"),
        ("/data/suites/x/a.yaml and /data/suites", "suites/x/a.yaml and suites"),
        ("no agent is called 'a'", "no agent is called 'a'"),
    ],
)
def test_a_folder_is_shown_by_its_name(text: str, shown: str):
    settings = Settings(home=Path("/srv/arena"), tests=(Path("/data/suites"),))
    assert ServerPaths(settings).hide(text) == shown
