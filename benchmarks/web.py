"""How long the dashboard blocks the browser, with a run of 5,000 results.

    make bench-web        or: python benchmarks/web.py [--results 5000]

Uses a real server, a real run and Debian's chromium. The longest task is the longest time in which
the page cannot react; the goal is below 200 ms. The figures depend on the machine: use an idle one.
"""

import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import yaml
from playwright.sync_api import Page, expect, sync_playwright

from arena.dashboard.built import DIST

GOAL_MS = 200
WATCH = """
window.pauses = [];
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) window.pauses.push(entry.duration);
}).observe({type: 'longtask', buffered: true});
"""
AGENT = """
def answer(prompt):
    number = int(prompt.split()[-1])
    return "no" if number % 7 == 0 else f"word {number}"
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, default=5000)
    count = parser.parse_args().results
    with tempfile.TemporaryDirectory(prefix="arena-web-") as folder:
        home = Path(folder)
        write_home(home, count)
        with serving(home) as url:
            run = execute(url)
            measure(url, run, count)
    print_sizes()


def write_home(home: Path, count: int) -> None:
    (home / "agents").mkdir()
    (home / "benchmarks").mkdir()
    (home / "agents" / "counter.py").write_text(AGENT)
    agent = {
        "id": "counter",
        "version": "1.0.0",
        "name": "Counter",
        "description": "Answers at once",
        "connector": {"type": "python", "callable": "counter:answer"},
    }
    (home / "agents" / "counter.yaml").write_text(yaml.safe_dump(agent))
    for part in range(5):
        tests = [
            {
                "id": f"count_{n:05}",
                "name": f"Count to {n}",
                "prompt": f"say {n}",
                "expected": {"contains": [f"word {n}"]},
                "agents": ["counter"],
            }
            for n in range(part, count, 5)
        ]
        text = yaml.safe_dump({"category": f"part {part}", "tests": tests}, sort_keys=False)
        (home / "benchmarks" / f"part_{part}.yaml").write_text(text)


@contextmanager
def serving(home: Path) -> Iterator[str]:
    words = [sys.executable, "-m", "arena", "serve", "--port", "0"]
    environment = {**os.environ, "ARENA_HOME": str(home), "ARENA_LOG_LEVEL": "error"}
    server = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield server.stdout.readline().split()[3]
    finally:
        server.terminate()
        server.wait(timeout=30)
        server.stdout.close()


def execute(url: str) -> str:
    with httpx2.Client(base_url=url, timeout=600, trust_env=False) as client:
        run = client.post("/api/benchmarks/run", json={"agent_id": "counter"}).json()["run_id"]
        done = client.post(f"/api/benchmarks/run/{run}/execute").json()
        print(f"run of {done['total_tests']} results: {done['passed']} passed")
    return run


def measure(url: str, run: str, count: int) -> None:
    program = shutil.which(os.environ.get("ARENA_TEST_CHROMIUM", "chromium"))
    if program is None:
        sys.exit("chromium is missing: apt-get install chromium")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.add_init_script(WATCH)
        expect.set_options(timeout=60_000)
        page.goto(f"{url}/agent-dashboard/runs/{run}")
        results = page.get_by_role("region", name="Results")
        expect(results.get_by_text(f"{count:,} results in all")).to_be_visible()
        expect(results.get_by_role("row").nth(5)).to_be_visible()
        report(page, "open the run")
        results.get_by_text("Failed", exact=True).click()
        expect(results.get_by_text("fit the filter")).to_be_visible()
        report(page, "show failed only")
        results.get_by_role("combobox", name="Category").click()
        page.get_by_role("option", name="part 3").click()
        expect(page).to_have_url(re.compile("category"))
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        report(page, "show one category")
        page.go_back()
        page.go_back()
        expect(results.get_by_text(f"{count:,} results in all")).to_be_visible()
        report(page, "back to all")
        for _ in range(40):
            page.mouse.wheel(0, 4000)
            page.wait_for_timeout(25)
        report(page, "scroll through")
        browser.close()


def report(page: Page, action: str) -> None:
    page.wait_for_timeout(300)
    pauses = page.evaluate("window.pauses.splice(0)")
    longest = max(pauses, default=0)
    judged = "ok" if longest < GOAL_MS else f"over {GOAL_MS} ms"
    print(f"{action:20} longest task {longest:5.0f} ms  {judged}")


def print_sizes() -> None:
    total = 0
    for script in sorted((DIST / "assets").glob("*.js")):
        size = len(gzip.compress(script.read_bytes()))
        total += size
        if size > 10_000:
            print(f"{script.name:32} {size / 1000:6.1f} kB gzipped")
    print(f"{'all scripts, all pages':32} {total / 1000:6.1f} kB gzipped")


if __name__ == "__main__":
    main()
