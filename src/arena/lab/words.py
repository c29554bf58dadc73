"""Text into words: split, folded, stemmed. Names and prompts go through the same mill.

Letters and digits are split from each other and every other sign is a gap, so that `TC-WEB-04`,
`tc web 4` and `TC_WEB_4` are the same three words.
"""

import re
import unicodedata

MAX_WORDS = 600
"""Words of a prompt that are read; a request that needs more is not one these agents understand."""

WORD = re.compile(r"[^\W\d_]+|\d+")
QUOTED = re.compile(r"""(?<!\w)(?:'([^'\n]{1,80})'|"([^"\n]{1,80})"|`([^`\n]{1,80})`)(?!\w)""")
CODE_LIKE = re.compile(r"\b(?=\w*[-_])(?=[\w-]*(?:_|\d))[A-Za-z0-9]\w*(?:-\w+)*\b")
"""A word that only a name looks like: with an underscore, or with a hyphen and a digit."""
DURATION = re.compile(
    # "a second" is a length of time after certain words only: "run a second test" has none.
    r"(?:(?<![\w.-])(\d{1,7}(?:\.\d{1,3})?|half a|two|three|five|ten)"
    r"|\b(?:within|than|for|most|under|after|only) (an?|one))"
    r"[\s-]?(ms|milliseconds?|s|secs?|seconds?|minutes?)\b"
)

NUMBER_WORDS = {
    "half a": 0.5,
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "five": 5,
    "ten": 10,
}
UNIT_MS = {"m": 1, "s": 1000, "minute": 60_000}

COMMON = """
a able about after afterwards again all also am an and any anything are area as at back be been
before briefly but by called can carefully choice choose chosen complete could current currently
do does each either entire every everything exact exactly explain first for from full give had
has have here high how i if important in into is it its itself just kindly know lab laboratory
last lately latest let like limit make many me millisecond milliseconds minute minutes more most
ms much must my name named need needs never next no not now of off on once one only or other our
out over own pick platform please priority product quick quickly random recently report right
said say says sec second seconds secs see shall short should simple so some something still such
sure system tell than thank thanks that the their them then there these they thing this those
through to today together too up urgent us used using via wait want was we well were what
whatever when where which whichever while who whole will with within would you your yourself
"""
STOPWORDS = frozenset(COMMON.split())
"""Words that carry no name and no idea here."""

PLURALS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"))


def folded(text: str) -> str:
    """The text in one form of letters, lower case, with straight quotes and `not` in full."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    straight = plain.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})
    return straight.replace("n't", " not")


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, as they stand; numbers without their leading zeros."""
    found = WORD.findall(folded(text))
    return tuple((w.lstrip("0") or "0") if w.isdecimal() else w for w in found)


def stem(word: str) -> str:
    """The word without the endings that change nothing for us: `navigating` is `navigat`."""
    for ending, singular in PLURALS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + singular
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word


def stems_of(text: str) -> tuple[str, ...]:
    """The stems of a text's words."""
    return tuple(stem(word) for word in words_of(text))


def literal_names(text: str) -> tuple[str, ...]:
    """What the text marks as a name: in quotes, or written like an identifier."""
    quoted = [match[0].strip("'\"`") for match in QUOTED.finditer(text)]
    coded = [match[0] for match in CODE_LIKE.finditer(QUOTED.sub(" ", text))]
    return tuple(dict.fromkeys([*quoted, *coded]))


def duration_ms(text: str) -> int | None:
    """The length of time that the text speaks of, if it does."""
    match = DURATION.search(folded(text))
    if match is None:
        return None
    amount, unit = match[1] or match[2], match[3]
    figure = NUMBER_WORDS[amount] if amount in NUMBER_WORDS else float(amount)
    if unit.startswith("minute"):
        return round(figure * UNIT_MS["minute"])
    return round(figure * UNIT_MS["m" if unit.startswith("m") else "s"])
