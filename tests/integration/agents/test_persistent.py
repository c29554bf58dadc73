import asyncio
import json
import os

import pytest

from arena.agents.connector import MAX_OUTPUT_BYTES
from arena.errors import AgentCrashed, AgentSaidNothing, AgentTimedOut, AgentUnavailable

LOOP = """
import json, os, sys, time
for line in sys.stdin:
    question = json.loads(line)
    prompt = question["prompt"]
"""


def program(*body: str) -> str:
    return LOOP + "".join(f"    {line}\n" for line in body)


async def test_one_process_answers_many_questions(bench, ask):
    connector = bench.command(program("print(os.getpid(), prompt)"), persistent=True)
    answers = [(await ask(connector, str(n))).output.split() for n in range(5)]
    assert [prompt for _, prompt in answers] == list("01234")
    assert len({pid for pid, _ in answers}) == 1


async def test_a_line_may_be_a_json_object_with_usage(bench, ask):
    connector = bench.command(
        program("print(json.dumps({'output': 'a\\nb', 'usage': {'input_tokens': 4}}))"),
        persistent=True,
    )
    answer = await ask(connector)
    assert answer.output == "a\nb"
    assert answer.usage.input_tokens == 4


async def test_as_many_processes_as_questions_at_once_and_no_more(bench, ask_often):
    connector = bench.command(program("time.sleep(0.05)", "print(os.getpid())"), persistent=True)
    answers = await ask_often(connector, 8, at_once=2)
    assert len({answer.output for answer in answers}) == 2


async def test_a_program_that_does_not_flush_is_unbuffered_for_it(bench, ask):
    connector = bench.command(program("sys.stdout.write('hi\\n')"), persistent=True)
    assert (await ask(connector)).output == "hi"


async def test_it_is_started_again_after_it_died(bench, ask):
    connector = bench.command(
        program("if prompt == 'die': sys.exit('gone')", "print(os.getpid())"), persistent=True
    )
    first = (await ask(connector)).output
    with pytest.raises(AgentCrashed, match="exit code 1: gone"):
        await ask(connector, "die")
    assert (await ask(connector)).output != first


async def test_a_program_that_exits_after_each_answer_still_answers_every_question(bench, ask):
    connector = bench.command(program("print(prompt)", "break"), persistent=True)
    assert [(await ask(connector, str(n))).output for n in range(4)] == list("0123")


async def test_after_a_time_out_the_next_answer_is_not_the_late_one(bench, ask, is_gone):
    connector = bench.command(
        program(
            "open('pid', 'w').write(str(os.getpid()))",
            "time.sleep(0.8 if prompt == 'slow' else 0)",
            "print(prompt)",
        ),
        persistent=True,
    )
    assert (
        await ask(connector, "fast")
    ).output == "fast"  # it is up, so start-up does not count below
    with pytest.raises(AgentTimedOut):
        await ask(connector, "slow", timeout=0.5)
    assert await is_gone(int((bench.folder / "pid").read_text()))
    assert (await ask(connector, "fast")).output == "fast"


async def test_cancelling_in_mid_answer_ends_the_process(bench, ask, is_gone):
    connector = bench.command(
        program("open('pid', 'w').write(str(os.getpid()))", "time.sleep(60)"), persistent=True
    )
    task = asyncio.create_task(ask(connector))
    while not (bench.folder / "pid").exists() or not (bench.folder / "pid").read_text():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await is_gone(int((bench.folder / "pid").read_text()))


@pytest.mark.parametrize(
    "twice",
    [
        "print(prompt + '\\n' + prompt)",  # two lines in one write
        "print(prompt); time.sleep(0.02); print(prompt)",  # the second one a moment later
    ],
)
async def test_an_agent_that_answers_twice_is_never_a_line_behind(bench, ask, twice):
    connector = bench.command(program(twice), persistent=True)
    outputs = []
    for number in range(3):
        outputs.append((await ask(connector, str(number))).output)
        await asyncio.sleep(0.3)
    assert outputs == list("012")


async def test_an_answer_to_another_question_is_a_crash_and_the_process_is_replaced(bench, ask):
    connector = bench.command(
        program("print(json.dumps({'id': 'q1', 'output': str(os.getpid())}))"), persistent=True
    )
    first = (await ask(connector, id="q1")).output
    with pytest.raises(AgentCrashed, match="answered question 'q1', not 'q2'"):
        await ask(connector, id="q2")
    assert (await ask(connector, id="q1")).output != first


async def test_an_agent_that_dies_in_mid_line_has_crashed(bench, ask):
    connector = bench.command(
        program("sys.stdout.write('half an ans')", "sys.stdout.flush()", "os._exit(0)"),
        persistent=True,
    )
    with pytest.raises(AgentCrashed, match="before it answered"):
        await ask(connector)


async def test_a_line_over_the_cap_is_cut_and_the_process_replaced(bench, ask):
    connector = bench.command(
        program("print('x' * (100 * 1024 * 1024) if prompt == 'flood' else prompt)"),
        persistent=True,
    )
    answer = await ask(connector, "flood")
    assert answer.truncated
    assert answer.output == "x" * MAX_OUTPUT_BYTES
    assert (await ask(connector, "next")).output == "next"


async def test_a_line_as_long_as_the_cap_is_whole(bench, ask):
    connector = bench.command(program(f"print('x' * {MAX_OUTPUT_BYTES})"), persistent=True)
    answer = await ask(connector)
    assert not answer.truncated
    assert len(answer.output) == MAX_OUTPUT_BYTES


async def test_an_empty_line_says_nothing_and_the_process_continues(bench, ask):
    connector = bench.command(
        program("print('' if prompt == 'hush' else os.getpid())"), persistent=True
    )
    first = (await ask(connector)).output
    with pytest.raises(AgentSaidNothing):
        await ask(connector, "hush")
    assert (await ask(connector)).output == first


async def test_a_megabyte_to_an_agent_that_never_reads_does_not_block_arena(bench, ask):
    connector = bench.command("import time; time.sleep(60)", persistent=True)
    with pytest.raises(AgentTimedOut):
        await ask(connector, "x" * 1024 * 1024, timeout=0.4)


async def test_a_megabyte_to_an_agent_that_closed_stdin_is_a_crash(bench, ask):
    connector = bench.command("import os; os.close(0)", persistent=True)
    with pytest.raises(AgentCrashed, match="exit code 0 before it answered"):
        await ask(connector, "x" * 1024 * 1024)


async def test_secrets_on_stderr_are_redacted(bench, ask):
    connector = bench.command(
        program("sys.exit('the key was ' + os.environ['API_KEY'])"),
        persistent=True,
        env=["API_KEY"],
        environ={"PATH": os.environ["PATH"], "API_KEY": "s3cr3t-value"},
    )
    with pytest.raises(AgentCrashed, match=r"the key was \[redacted\]"):
        await ask(connector)


async def test_closing_ends_idle_and_busy_processes(bench, ask, is_gone):
    connector = bench.command(
        program("time.sleep(60 if prompt == 'busy' else 0)", "print(os.getpid())"), persistent=True
    )
    busy = asyncio.create_task(ask(connector, "busy"))
    idle = int((await ask(connector)).output)
    await connector.close()
    with pytest.raises(AgentUnavailable, match="closed"):
        await busy
    assert await is_gone(idle)
    with pytest.raises(AgentUnavailable, match="closed"):
        await ask(connector)


async def test_the_question_is_one_line_of_json(bench, ask):
    connector = bench.command("import sys\nfor line in sys.stdin: print(line)", persistent=True)
    answer = await ask(connector, "two\nlines", id="x")
    assert json.loads(answer.output) == {"id": "x", "prompt": "two\nlines", "timeout_seconds": 20.0}
