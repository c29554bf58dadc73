"""Mistakes that must be found: each is a change of the source, made in a copy of the package."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import arena


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One mistake: the file, what stands there, and what somebody might have written."""

    name: str
    file: str
    right: str
    wrong: str
    history: int
    """One that shows it early, which is tried first: the others take time."""

    def plant(self, folder: Path) -> None:
        """Put a copy of the package with this mistake into the folder."""
        source = Path(arena.__file__).parent
        # What is compiled comes along, or each copy would be compiled anew; a changed file is not
        # taken for what was compiled of it: its time and its size are others.
        shutil.copytree(source, folder / "arena", ignore=shutil.ignore_patterns("dist"))
        path = folder / "arena" / "market" / self.file
        text = path.read_text()
        found = text.count(self.right)
        assert found == 1, f"{self.name}: {self.right!r} stands {found} times in {self.file}"
        path.write_text(text.replace(self.right, self.wrong))


MUTANTS = [
    Mutant(
        name="the state is not written",
        history=12,
        file="records/ledger.py",
        right="for name, value in new.items() if value != old[name]}",
        wrong='for name, value in new.items() if value != old[name] and name != "state"}',
    ),
    Mutant(
        name="nobody asks whether the judge is the judge",
        history=13,
        file="moves.py",
        right="return who == task.judge",
        wrong="return True",
    ),
    Mutant(
        name="a window is shut one tick too late",
        history=16,
        file="moves.py",
        right="closes is not None and at >= closes",
        wrong="closes is not None and at > closes",
    ),
    Mutant(
        name="a window opens one tick too late",
        history=13,
        file="moves.py",
        right="opens is not None and at < opens",
        wrong="opens is not None and at <= opens",
    ),
    Mutant(
        name="sixty does not pay",
        history=13,
        file="effects.py",
        right="is_paid = score >= MIN_PASS_SCORE",
        wrong="is_paid = score > MIN_PASS_SCORE",
    ),
    Mutant(
        name="the agent is paid when it submits",
        history=23,
        file="effects.py",
        right="happenings=(event,), execution=ExecutionStatus.COMPLETED)",
        wrong="happenings=(event,), execution=ExecutionStatus.COMPLETED,"
        " entry=_payout(task, ((task.agent, task.reward),)))",
    ),
    Mutant(
        name="a verdict settles although it can be disputed",
        history=23,
        file="moves.py",
        right="closes=judge_until, when=is_disputable, effect=effects.judge),",
        wrong="closes=judge_until, when=is_disputable, effect=effects.judge_and_pay),",
    ),
    Mutant(
        name="a key is looked up too late",
        history=23,
        file="records/book.py",
        right="    if row is None:\n        return None",
        wrong="    if row is None or True:\n        return None",
    ),
    Mutant(
        name="the escrow is not emptied",
        history=12,
        file="records/book.py",
        right="after = {name: held.get(name, 0) + change for name, change in changes.items()}",
        wrong="after = {name: held.get(name, 0) + (change if change > 0 or "
        'not name.startswith("escrow") else 0) for name, change in changes.items()}',
    ),
    Mutant(
        name="poster and agent are both paid",
        history=23,
        file="effects.py",
        right="entry = _payout(task, ((receiver, reward),), bond_to=bond_to)",
        wrong="entry = _payout(task, ((receiver, reward),), bond_to=bond_to)\n"
        "    entry = replace(entry, postings=(*entry.postings,"
        " Posting(account='outside', amount=-reward),"
        " Posting(account=user(task.poster if is_paid else task.agent), amount=reward)))",
    ),
    Mutant(
        name="a verdict may be about any result",
        history=5,
        file="effects.py",
        right="if not _is_same_content(call.result_hash, task.result_hash):",
        wrong="if not call.result_hash:",
    ),
    Mutant(
        name="a verdict may name any winner",
        history=17,
        file="effects.py",
        right="if call.agent != task.agent:",
        wrong="if call.agent is None:",
    ),
    Mutant(
        name="a winner that is not the agent takes it all",
        history=17,
        file="effects.py",
        right="    if call.agent != task.agent:\n        raise WrongRole(",
        wrong="    if call.agent != task.agent and score < 60:\n        raise WrongRole(",
    ),
    Mutant(
        name="a score above 100 is taken",
        history=11,
        file="effects.py",
        right="not 0 <= score <= 100:",
        wrong="not 0 <= score:",
    ),
    Mutant(
        name="the bond always returns to the disputer",
        history=3,
        file="effects.py",
        right="bond_to = task.disputed_by if is_overturned else other",
        wrong="bond_to = task.disputed_by",
    ),
    Mutant(
        name="signatures are not checked",
        history=23,
        file="signing.py",
        right="        read_public_key(public_key).verify(signature, message)",
        wrong="        read_public_key(public_key)",
    ),
    Mutant(
        name="the fallback judge need not wait",
        history=0,
        file="moves.py",
        right="         opens=judge_until, closes=fallback_until, when=settles_at_once,",
        wrong="         closes=fallback_until, when=settles_at_once,",
    ),
    Mutant(
        name="an account may be overdrawn",
        history=23,
        file="records/book.py",
        right="if balance < 0 and name != OUTSIDE:",
        wrong="if balance < -1000 and name != OUTSIDE:",
    ),
    Mutant(
        name="a missed deadline is nobody's fault",
        history=27,
        file="effects.py",
        right="counted = _counted(task, Reputation(no_shows=1))",
        wrong="counted = None",
    ),
]
