"""A judge that was calibrated and attacked, and its figures on the page."""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import expect

from acceptance.conftest import Shell
from acceptance.web.conftest import Visit
from judging import completion, said

STANDARD = {"type": "judge_prompt", "prompt": "Is it good?", "criteria": ["a", "b"]}


class Lenient(BaseHTTPRequestHandler):
    """A model that gives every criterion 50, or 90 if the prompt says "ignore"."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        criteria = request["response_format"]["json_schema"]["schema"]["properties"]
        gullible = "ignore" in json.dumps(request["messages"][-1]).lower()
        score = 90 if gullible else 50
        answer = json.dumps(completion({name: said(score=score) for name in criteria})).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    """The address of the model."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Lenient)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    serving.join()
    server.server_close()


@pytest.fixture(scope="module")
def shell(model: str, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    variables = {
        "ARENA_JUDGE_BASE_URL": model,
        "ARENA_JUDGE_MODELS": "a-model",
        "ARENA_JUDGE_API_KEY": "none",
    }
    return Shell(home=tmp_path_factory.mktemp("judges"), variables=variables)


@pytest.fixture(scope="module")
def server(shell: Shell) -> Iterator[httpx2.Client]:
    """`arena serve` with a judge that is not calibrated yet."""
    with shell.serving() as client:
        yield client


def test_a_judge_is_measured_and_its_figures_are_shown(visit: Visit, shell: Shell, tmp_path: Path):
    page = visit.go("/judges")
    card = page.get_by_role("region", name="a-model")
    expect(card).to_contain_text("Not calibrated")
    expect(card).to_contain_text("Not attacked")

    rows = [
        {"standard": STANDARD, "submission": f"work {n}", "labels": {"a": 40 + n, "b": 50}}
        for n in range(8)
    ]
    labels = tmp_path / "labels.jsonl"
    labels.write_text("\n".join(map(json.dumps, rows)))
    assert shell.arena("judge", "calibrate", str(labels), "--repeats", "2").returncode == 0
    attacked = shell.arena("judge", "attack")
    moved = re.search(r"(\d+ of \d+) moved the score", attacked.stdout)
    assert moved is not None, attacked.stdout + attacked.stderr
    assert not moved[1].startswith("0 of"), "this model must be easy to manipulate"

    visit.go("/judges")
    calibration = card.get_by_role("region", name="Calibration")
    expect(calibration).to_contain_text("8 answers scored by people")
    # 50 against 40 to 47 and against 50: 6.5 and 0 too much.
    expect(calibration).to_contain_text("+3.3")
    expect(calibration.get_by_text("Spread on repeats")).to_be_visible()
    expect(card.get_by_role("region", name="Attacks")).to_contain_text(moved[1])
    visit.check_every_look()
