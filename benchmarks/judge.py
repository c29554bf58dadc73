"""The overhead of a judge: many calls of half a second each, a hundred at once.

    make bench-judge      or: python benchmarks/judge.py [--calls 1000] [--concurrency 100]

A scripted endpoint in a separate process answers each call after 0.5 s; the judge is the real one,
with its cache on disk, so 1,000 submissions at concurrency 100 take 5 s at best. Compare figures
within one output only: machines are noisy, and the endpoint shares the CPU.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from arena.evaluation.judge.judge import ModelJudge
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.verdict import Submission
from arena.settings import Settings

STANDARD = JudgePrompt(
    prompt="Evaluate this code for correctness, efficiency and readability.",
    criteria=("correctness", "efficiency", "readability"),
    weights=(50, 30, 20),
)
WORK = "def merge(a, b):\n    return {**a, **b}\n" * 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0.5, help="duration of each call")
    options = parser.parse_args()

    command = [sys.executable, __file__, "--serve", str(options.seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        try:
            asyncio.run(measure(f"http://127.0.0.1:{port}/v1", options))
        finally:
            server.terminate()


async def measure(url: str, options: argparse.Namespace) -> None:
    """Judge different submissions, then the same ones again from the cache."""
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(
            home=Path(home),
            judge_base_url=url,
            judge_models=("gpt-4o-mini",),
            judge_concurrency=options.concurrency,
        )
        judge = ModelJudge(settings)
        # Warm-up: loads the price list and opens the first connection.
        await judge.judge(STANDARD, Submission(output="warm up"))
        ideal = options.calls * options.seconds / options.concurrency
        wall, cpu = await timed(judge, options.calls)
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{options.calls} calls of {options.seconds:g} s, {options.concurrency} at once")
        print(
            f"wall          {wall:6.2f} s  ({wall / ideal:.2f} x the ideal {ideal:g} s; goal 1.2)"
        )
        print(f"CPU           {cpu:6.2f} s  ({cpu / options.calls * 1000:.2f} ms per call)")
        print(f"memory        {rss:6.1f} MiB  (goal: under 200)")
        wall, cpu = await timed(judge, options.calls)
        print(
            f"from the cache {wall:5.2f} s  ({cpu / options.calls * 1000:.2f} ms CPU per judgement)"
        )
        await judge.aclose()


async def timed(judge: ModelJudge, calls: int) -> tuple[float, float]:
    """Wall and CPU seconds of concurrent judgements."""
    wall, cpu = time.monotonic(), time.process_time()
    verdicts = await asyncio.gather(
        *(judge.judge(STANDARD, Submission(output=f"{WORK}# {n}")) for n in range(calls))
    )
    assert {verdict.score for verdict in verdicts} == {70.0}
    return time.monotonic() - wall, time.process_time() - cpu


async def serve(seconds: float) -> None:
    """Answer every request with the same valid vote after `seconds`."""
    vote = {"quote": "def merge(a, b):", "reason": "It does what was asked. " * 5, "score": 70}
    content = json.dumps({key: vote for key in ("c1", "c2", "c3")})
    completion = {
        "model": "gpt-4o-mini",
        "choices": [{"finish_reason": "stop", "message": {"content": content}}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 150},
    }
    body = json.dumps(completion).encode()
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
            except asyncio.IncompleteReadError:
                writer.close()
                return
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
            await asyncio.sleep(seconds)
            writer.write(reply)

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        asyncio.run(serve(float(sys.argv[2])))
    else:
        main()
