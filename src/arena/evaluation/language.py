"""Refuses code whose language is unclear, or is not the standard's, before it is judged.

The language comes from the standard, the submission's own `language`, or the fence of its code, in
this order of trust; else it must be evident from the code. "Cannot tell" is never a score.
"""

from arena.errors import AgentFault, InvalidInput
from arena.evaluation.grader import Grader
from arena.evaluation.standard import AllOf, AnyOf, Reply, Standard, TestCases
from arena.evaluation.submission import of_turn
from arena.evaluation.verdict import Submission
from arena.pools.workers import TooMuchWork, by_effort
from arena.sandbox.cases import SHORT_LINE, read_code
from arena.sandbox.errors import LanguageRefused
from arena.sandbox.languages import check_language
from arena.sandbox.ports import SandboxProvider
from arena.sandbox.submission import fence_languages


async def check_languages(
    standard: Standard, submission: Submission, sandbox: SandboxProvider
) -> None:
    """Raise `LanguageRefused` if the submission cannot be judged by this standard.

    Of alternatives (`any_of`) one that can be judged is enough.
    """
    if isinstance(standard, TestCases):
        await _check_cases(standard, submission, sandbox)
    elif isinstance(standard, Grader):
        await check_code_language(standard, submission)
    elif isinstance(standard, AllOf):
        for part in standard.parts:
            await check_languages(part, submission, sandbox)
    elif isinstance(standard, Reply):
        reply = of_turn(submission, standard.turn)
        if reply is not None:
            await check_languages(standard.standard, reply, sandbox)
    elif isinstance(standard, AnyOf):
        await _check_alternatives(standard, submission, sandbox)


async def _check_alternatives(
    standard: AnyOf, submission: Submission, sandbox: SandboxProvider
) -> None:
    refused: list[LanguageRefused] = []
    for part in standard.parts:
        try:
            await check_languages(part, submission, sandbox)
        except LanguageRefused as error:
            refused.append(error)
    if len(refused) == len(standard.parts):
        raise refused[0]


async def _check_cases(
    standard: TestCases, submission: Submission, sandbox: SandboxProvider
) -> None:
    await check_named_language(standard, submission)
    if None not in _languages(standard):
        return
    try:
        await read_code(
            sandbox,
            submission.output,
            submission.language,
            function_name=standard.function_name,
        )
    except LanguageRefused:
        raise
    except (AgentFault, InvalidInput):
        pass  # over a limit while it is read or parsed: it is not refused, but judged with 0


async def check_named_language(standard: TestCases, submission: Submission) -> None:
    """Refuse a submission that names another language than its standard, or an unknown one."""
    if submission.language:
        check_language(submission.language)
    languages = _languages(standard)
    wanted = {language for language in languages if language is not None}
    if wanted == languages:  # otherwise the submission decides about some cases
        await refuse_other_language(wanted, submission)


async def check_code_language(standard: Grader, submission: Submission) -> None:
    """Refuse code in another language than the one that a grader calls."""
    if standard.code_language is not None:
        await refuse_other_language({standard.code_language}, submission)


async def refuse_other_language(wanted: set[str], submission: Submission) -> None:
    """Refuse a submission that names none of these languages, but others."""
    named = {check_language(submission.language)} if submission.language else set[str]()
    named = named or await _fence_languages(submission.output)
    # The cases may be in several languages, and so may the submission: one in common is enough.
    if named and not named & wanted:
        raise LanguageRefused(
            f"the standard asks for {' and '.join(sorted(wanted))}, "
            f"but the submission names {' and '.join(sorted(named))}"
        )


async def _fence_languages(text: str) -> set[str]:
    """What the fences name; nothing if the answer cannot be read within the limits."""
    try:
        return await by_effort(len(text) // SHORT_LINE, fence_languages, text)
    except (InvalidInput, TooMuchWork):
        return set()  # no reason to refuse it: its code will not be found either, and scores 0


def _languages(standard: TestCases) -> set[str | None]:
    """The language of each case; None where the submission decides."""
    found = {case.language or standard.language for case in standard.cases}
    # The hidden cases may leave it to the submission.
    return found | {standard.language} if standard.sealed or not found else found
