"""Reading a prompt: the lab's names in it, and what it asks for.

Names are replaced by their kind first, so that "Please run TC-WEB-04 on chrome-01" becomes "please
run @testcase on @device". The first rule in `RULES` that matches this text gives the intent. That
is all the language these agents understand; `docs/guide/the-lab.md` lists what they get wrong.
"""

import difflib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from arena.lab.lab import Lab
from arena.lab.records import Execution, Host, Node, Platform, Record, Userinterface

MAX_CHARACTERS = 3_000
"""Characters of a prompt that are read. The patterns take quadratic time on hostile text: 0.2 s for
this many, over 2 s for 10,000."""
OFFERED = 3
"""Similar names that are offered for one that does not exist."""

Kind = TypeVar("Kind", bound=Record)


class Intent(StrEnum):
    """What an agent of the lab can do."""

    HELP = "say what I can do"
    LIST_USERINTERFACES = "list the user interfaces"
    NAVIGATE = "navigate to a node"
    DESCRIBE_TREE = "describe a navigation tree"
    DEVICE_STATUS = "report the status of devices"
    HEALTH_CHECK = "check the health of services, hosts and devices"
    LIST_HOSTS = "discover the hosts"
    LIST_TESTCASES = "list the test cases"
    LOAD_TESTCASE = "load a test case"
    EXECUTE_TESTCASE = "execute a test case"
    RESULTS = "report the results of executions"
    COVERAGE = "summarise the coverage"
    LIST_REQUIREMENTS = "list the requirements"
    UNCOVERED = "find uncovered requirements"
    GAPS = "analyse the gaps in the tests"


TEST = r"(@testcase|@unknown|\btests?\b|\btestcases?\b|\bscenarios?\b|\bregression\b)"
# The order matters: specific subjects come before the general words they are phrased with.
RULES = {
    Intent.HELP: r"what can you do|(who|what) are you\b|your (skill|capabilit|job)|^(hello|hi)\b",
    Intent.UNCOVERED: r"uncovered|untested|requirements?\b.*\b(no|not|without|lack|nothing)\b",
    Intent.GAPS: r"\b(gaps?|holes?|blind spots?|shortcomings?)\b|should we write next",
    Intent.COVERAGE: r"\bcover|(percentage|share) of (the )?requirements",
    # Acting needs an order: "what was the result of the last run of TC-WEB-04" gives none.
    Intent.EXECUTE_TESTCASE: r"(^|please |you |and |then |to )"
    r"(execute|run|perform|start|launch|carry out|try|rerun|repeat)\b.*" + TEST,
    Intent.DESCRIBE_TREE: r"\b(tree|edges?|transitions?|structure|graph|site ?map|map)\b"
    r"|\b(nodes|screens)\b",
    Intent.NAVIGATE: r"\b(navigate|go|take|bring|get|move|walk|head|visit|open|reach|switch)\b.*"
    r"(@node|@unknown|@userinterface|\bnode\b|\bscreen\b|\bpage\b)",
    Intent.RESULTS: r"@execution|\b(results?|outcomes?|executions?|history|fail\w*|pass(ed)?|ran)\b"
    r"|\b(last|latest|previous|recent|nightly) runs?\b|\btim(ed?|ing) ?outs?\b",
    Intent.LOAD_TESTCASE: r"@testcase|\b(load|fetch|read|open|show|steps?|retrieve)\b.*@unknown",
    Intent.LIST_REQUIREMENTS: r"@requirement|\b(requirements?|specifications?|user stor)",
    Intent.HEALTH_CHECK: r"@service|\b(services?|health\w*|good order|trouble|alarms?|alerts?"
    r"|incidents?|warnings?|attention)\b",
    Intent.LIST_HOSTS: r"@host|\b(hosts?|machines?|computers?|servers?|network)\b",
    Intent.DEVICE_STATUS: r"@device|@unknown.*\b(online|offline|status)\b|\b(devices?|phones?"
    r"|tablets?|browsers?|hardware|equipment|battery|boxes)\b",
    Intent.LIST_TESTCASES: TEST,
    Intent.LIST_USERINTERFACES: r"@userinterface|\b(user ?)?interfaces?\b|\b(ui|gui|app)s?\b"
    r"|\bapplications?\b",
}
DENIED = r"\b(not|never|without|instead of)( \w+){0,2} (execut|run|perform|start|launch|try)"
"""A prompt that says "do not start any" must never start one, whatever else it says."""

PLATFORM_WORDS = {
    Platform.WEB: r"\b(web|websites?|browsers?)\b",
    Platform.MOBILE: r"\b(mobile|phones?|tablets?|android|ios)\b",
    Platform.STB: r"\b(stb|set top|boxes|television|tv)\b",
}
WORD = re.compile(r"@?[^\W\d_]+|\d+")
QUOTED = re.compile(r"""(?<!\w)(['"`])([^'"`\n]{1,80})\1(?!\w)""")
IDENTIFIER = re.compile(r"\b(?=\w*[-_])(?=[\w-]*(?:_|\d))[a-z0-9]\w*(?:-\w+)*\b", re.IGNORECASE)
"""A word that only a name looks like: with an underscore, or with a hyphen and a digit."""
DURATION = re.compile(r"(?<![\w.-])(\d{1,7}(?:\.\d{1,3})?) ?(ms|milliseconds?|s|seconds?)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A prompt, read."""

    text: str
    """The words of the prompt, with names replaced by `@` and their kind."""
    mentioned: tuple[Record, ...]
    """The records that are named, in the order of the prompt."""
    unknown: tuple[str, ...]
    """Identifiers and short quotations that are the name of nothing in the lab."""
    intent: Intent | None
    platforms: frozenset[Platform]
    limit_ms: int | None
    """The waiting time that the prompt allows."""

    def of(self, kind: type[Kind]) -> tuple[Kind, ...]:
        """The mentioned records of one kind."""
        return tuple(record for record in self.mentioned if isinstance(record, kind))


class Names:
    """Every name in the lab."""

    def __init__(self, lab: Lab) -> None:
        self.records: dict[str, list[Record]] = {}
        self.ids: dict[str, Record] = {}
        for record in lab.records():
            self.ids.setdefault(record.id.casefold(), record)
            for spelling in spellings(record):
                self.records.setdefault(" ".join(words_of(spelling)), []).append(record)
        # Longest first: "search results" must not be read as "search".
        longest = sorted(self.records, key=len, reverse=True)
        self.pattern = re.compile(rf"(?<!\S)({'|'.join(map(re.escape, longest))})(?!\S)")

    def near(self, name: str) -> tuple[Record, ...]:
        """The records whose ids look most like this name, best first."""
        close = difflib.get_close_matches(name.casefold(), self.ids, n=OFFERED, cutoff=0.6)
        return tuple(self.ids[name] for name in close)

    def read(self, prompt: str) -> Request:
        """Read a prompt."""
        plain = straightened(prompt[:MAX_CHARACTERS]).replace("@", " ")
        quoted = [match[2] for match in QUOTED.finditer(plain)]
        literals = [*quoted, *IDENTIFIER.findall(QUOTED.sub(" ", plain))]
        unknown = [
            name
            for name in dict.fromkeys(literals)
            if 1 <= len(words_of(name)) <= 6 and " ".join(words_of(name)) not in self.records
        ]
        for name in unknown:
            plain = plain.replace(name, " @unknown ")
        mentioned: list[Record] = []

        def mark(match: re.Match[str]) -> str:
            found = self.records[match[0]]
            mentioned.extend(record for record in found if record not in mentioned)
            # A name of one word is often a common word too ("search"), so the word stays.
            word = "" if " " in match[0] else f" {match[0]}"
            return f"@{kind_of(found[0])}{word}"

        text = self.pattern.sub(mark, " ".join(words_of(plain)))
        limit = DURATION.search(plain)
        return Request(
            text=text,
            mentioned=tuple(mentioned),
            unknown=tuple(unknown),
            intent=intent_of(text),
            platforms=frozenset(p for p, words in PLATFORM_WORDS.items() if re.search(words, text)),
            limit_ms=round(float(limit[1]) * (1 if limit[2][0] == "m" else 1000))
            if limit
            else None,
        )


def intent_of(text: str) -> Intent | None:
    """The intent of the first rule that matches, or None."""
    for intent, pattern in RULES.items():
        denied = intent is Intent.EXECUTE_TESTCASE and re.search(DENIED, text)
        if not denied and re.search(pattern, text):
            return intent
    return None


def kind_of(record: Record) -> str:
    """The lab's word for this kind of record: `testcase`, `node`."""
    return type(record).__name__.casefold()


def spellings(record: Record) -> Iterable[str]:
    """All names of a record."""
    yield record.id
    if not isinstance(record, Execution):
        yield record.title
    if isinstance(record, Userinterface | Node):
        yield from record.aliases
    if isinstance(record, Host):
        yield record.address


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text: `TC-WEB-04`, `tc web 4` and `TC_WEB_4` are the same three."""
    found = WORD.findall(straightened(text).casefold().replace("n't", " not"))
    return tuple((w.lstrip("0") or "0") if w.isdecimal() else w for w in found)


def straightened(text: str) -> str:
    """The text in one form of letters and with straight quotes."""
    plain = unicodedata.normalize("NFKC", text)
    return plain.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})
