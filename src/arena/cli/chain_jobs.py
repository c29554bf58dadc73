"""`arena chain job`: jobs in contracts of ERC-8183."""

import asyncio
from typing import Annotated

import typer

from arena import clock
from arena.assembly import Arena
from arena.chain.standards.contract import Sent
from arena.chain.standards.erc8183 import JobContract, NewJob
from arena.chain.standards.job import Job, JobStatus, describe, moment_of
from arena.chain.standards.job_judging import JobJudge, JobVerdict, find_record
from arena.cli import output
from arena.cli.chain_standards import here, parties_of
from arena.cli.files import MAX_TASK_STANDARD_BYTES, standard_named
from arena.cli.options import Json, Language, commands
from arena.cli.parties import As
from arena.cli.spans import moment_of as moment_in
from arena.market.contents import cid_of_standard

app = commands("Jobs in a contract of ERC-8183.")

JobNumber = Annotated[int, typer.Argument(metavar="JOB", min=0, help="The number of the job.")]
Contract = Annotated[str, typer.Option(metavar="ADDRESS", help="The contract of jobs (ERC-8183).")]
Budget = Annotated[
    int, typer.Option(metavar="UNITS", min=1, help="In the smallest unit of the token.")
]
StandardOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="A JSON file or a CID (default: what the job's description names)."
    ),
]


@app.command("show")
def show(
    context: typer.Context, job_id: JobNumber, contract: Contract, as_json: Json = False
) -> None:
    """Show a job. Prints its parties, its state, what was submitted and why it ended."""

    async def read(arena: Arena) -> tuple[Job, str | None]:
        job = await JobContract(arena.caller, contract).job(job_id)
        return job, await _record_of(arena, job)

    job, record = here(context, read)
    if as_json:
        output.print_json({**output.jsonable(job), "record_cid": record})
        return
    _print_job(job)
    if record is not None:
        output.line(f"verdict     {record} (check it with: arena verify CID)")


async def _record_of(arena: Arena, job: Job) -> str | None:
    """The CID of the verdict's record, if it is on this machine."""
    if job.reason is None:
        return None
    digest = bytes.fromhex(job.reason.removeprefix("0x"))
    found = await asyncio.to_thread(find_record, arena.content, digest)
    return None if found is None else found[0]


def _print_job(job: Job) -> None:
    why = "" if job.expiry_reason is None else f", {job.expiry_reason}"
    ends = moment_of(job.expired_at)
    output.line(job.name)
    output.line(f"status      {job.status.name.capitalize()} (as a task: {job.state}{why})")
    output.line(f"client      {job.client}")
    output.line(f"provider    {job.provider or 'not set yet'}")
    output.line(f"evaluator   {job.evaluator}")
    output.line(f"budget      {job.budget} (smallest units of its token)")
    output.line(f"expires     {output.moment(ends) if ends else 'after the year 9999'}")
    if job.hook is not None:
        output.line(f"hook        {job.hook}: it may refuse any move")
    if job.deliverable is not None:
        output.line(f"submitted   {job.deliverable}")
    if job.reason is not None:
        output.line(f"reason      {job.reason}")
    output.line(f"description {output.plain(job.description).plain}")


@app.command("judge")
def judge(
    context: typer.Context,
    job_id: JobNumber,
    contract: Contract,
    result: Annotated[
        str, typer.Option(metavar="CID", help="What was submitted: content with that digest.")
    ],
    by: As,
    standard: StandardOption = None,
    language: Language = None,
    as_json: Json = False,
) -> None:
    """Judge the result of a job as its evaluator.

    From a score of 60 on it is completed and paid. Below it is rejected, and the client gets the
    budget back. The reason on the chain is the digest of the verdict's record, which is stored
    here.
    """
    given = standard and standard_named(standard, max_bytes=MAX_TASK_STANDARD_BYTES)

    async def settle(arena: Arena) -> JobVerdict:
        judging = JobJudge(
            JobContract(arena.caller, contract),
            arena.market.contents,
            arena.resources,
            sandbox=arena.settings.sandbox,
        )
        return await judging.judge(
            job_id, by=by, result_cid=result, standard=given, language=language
        )

    output.show(here(context, settle), _print_verdict, as_json=as_json)


def _print_verdict(given: JobVerdict) -> None:
    output.line(
        f"{given.job.name} is {given.job.status.name.capitalize()}: score {given.score}, why: "
        f"arena verify {given.record_cid}"
    )
    _print_sent(given.sent)


@app.command("post")
def post(
    context: typer.Context,
    description: Annotated[str, typer.Argument(metavar="TEXT", help="What is to be done.")],
    contract: Contract,
    standard: Annotated[
        str, typer.Option(metavar="FILE", help="How it is judged: a JSON file or a CID.")
    ],
    provider: Annotated[str, typer.Option(metavar="NAME", help="Who does it; or an address.")],
    evaluator: Annotated[str, typer.Option(metavar="NAME", help="Who judges; or an address.")],
    budget: Budget,
    by: As,
    expires: Annotated[
        str, typer.Option(metavar="TIME", help="Until when: 2h, 7d, or a date.")
    ] = "7d",
    as_json: Json = False,
) -> None:
    """Create a job for a chosen provider and fund it.

    The description on the chain also names the standard by its CID, so that everybody knows how
    it will be judged.
    """
    ends = moment_in("--expires", expires)
    evaluation = standard_named(standard, max_bytes=MAX_TASK_STANDARD_BYTES)

    async def create(arena: Arena) -> Job:
        seconds = int((ends - clock.now()).total_seconds())
        await arena.market.contents.keep_standard(evaluation, seconds)
        jobs, parties = JobContract(arena.caller, contract), parties_of(arena)
        new = NewJob(
            provider=await parties.address_of(provider),
            evaluator=await parties.address_of(evaluator),
            expires_at=ends,
            description=describe(description, cid_of_standard(evaluation)),
        )
        job_id = await jobs.create(new, by=by)
        # Before it is funded: if that fails, `arena chain job fund` goes on with it.
        typer.echo(f"job {job_id} is created", err=True)
        return await _fund(jobs, job_id, budget, by)

    output.show(here(context, create), _print_job, as_json=as_json)


@app.command("fund")
def fund(
    context: typer.Context,
    job_id: JobNumber,
    contract: Contract,
    budget: Budget,
    by: As,
    as_json: Json = False,
) -> None:
    """Pay the budget of an open job into the escrow. Sets the budget, as its client."""

    async def pay(arena: Arena) -> Job:
        return await _fund(JobContract(arena.caller, contract), job_id, budget, by)

    output.show(here(context, pay), _print_job, as_json=as_json)


async def _fund(jobs: JobContract, job_id: int, budget: int, by: str) -> Job:
    job = await jobs.job(job_id)
    if job.status is JobStatus.OPEN and job.budget != budget:
        await jobs.set_budget(job_id, budget, by=by)
    await jobs.fund(job_id, budget, by=by)
    return await jobs.job(job_id)


@app.command("submit")
def submit(
    context: typer.Context,
    job_id: JobNumber,
    contract: Contract,
    result: Annotated[str, typer.Option(metavar="CID", help="The result, which is stored here.")],
    by: As,
    as_json: Json = False,
) -> None:
    """Submit a result as the provider; tell the evaluator its CID."""

    async def send(arena: Arena) -> Sent:
        await arena.market.contents.result(result)
        return await JobContract(arena.caller, contract).submit(job_id, result, by=by)

    output.show(here(context, send), _print_sent, as_json=as_json)


@app.command("refund")
def refund(
    context: typer.Context, job_id: JobNumber, contract: Contract, by: As, as_json: Json = False
) -> None:
    """Send the budget of an expired job back to its client. Anyone may do this."""

    async def claim(arena: Arena) -> Sent:
        return await JobContract(arena.caller, contract).claim_refund(job_id, by=by)

    output.show(here(context, claim), _print_sent, as_json=as_json)


def _print_sent(sent: Sent) -> None:
    output.line(f"transaction {sent.transaction_hash} ({sent.status})")
