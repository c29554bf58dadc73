"""Emoji that are made of several characters: joined by U+200D, or flags spelled with tags.

The sequences that Unicode 16 recommends, as a grammar: people with a role, a gender or a direction,
families, couples, and a few others. Any other joiner or tag could hide something and is marked.
"""

import re

_SKIN = "[\U0001f3fb-\U0001f3ff]?"
_JOINER = "\u200d"
_VS = "\ufe0f?"  # the variation selector, which many programs leave out
_ADULT = "[👨👩🧑]"
_ROLE = "[⚕⚖✈🌾🍳🍼🎄🎓🎤🎨🏫🏭💻💼🔧🔬🚀🚒🦯🦼🦽🦰🦱🦲🦳]"
_DOER = (
    "[⛹🏃🏄🏊🏋🏌👮👯👰👱👳👷💁💂💆💇🕵🙅🙆🙇🙋🙍🙎🚣🚴🚵🚶"
    "🤦🤵🤷🤸🤹🤼🤽🤾🦸🦹🧍🧎🧏🧔🧖🧗🧘🧙🧚🧛🧜🧝🧞🧟]"
)
_RIGHT = f"(?:{_JOINER}➡{_VS})?"
_OTHERS = (
    ("🏳", "🌈"),
    ("🏳", "⚧"),
    ("🏴", "☠"),
    ("👁", "🗨"),
    ("❤", "[🔥🩹]"),
    ("⛓", "💥"),
    ("🐈", "⬛"),
    ("🐕", "🦺"),
    ("🐦", "[⬛🔥]"),
    ("🐻", "❄"),
    ("🍄", "🟫"),
    ("🍋", "🟩"),
    ("😮", "💨"),
    ("😵", "💫"),
    ("😶", "🌫"),
    ("🙂", "[↔↕]"),
)
_FLAGS = "|".join(
    "".join(chr(0xE0000 + ord(letter)) for letter in name) for name in ("gbeng", "gbsct", "gbwls")
)
"""England, Scotland and Wales, as tags."""

JOINED = re.compile(
    "|".join(
        (
            f"[👨👩]{_JOINER}(?:[👨👩]{_JOINER})?[👦👧](?:{_JOINER}[👦👧])?",
            f"🧑{_JOINER}(?:🧑{_JOINER})?🧒(?:{_JOINER}🧒)?",
            f"{_ADULT}{_SKIN}{_JOINER}❤{_VS}{_JOINER}(?:💋{_JOINER})?{_ADULT}{_SKIN}",
            f"{_ADULT}{_SKIN}{_JOINER}🤝{_JOINER}{_ADULT}{_SKIN}",
            f"{_ADULT}{_SKIN}{_JOINER}{_ROLE}{_VS}{_RIGHT}",
            f"{_DOER}{_SKIN}{_VS}{_JOINER}[♀♂]{_VS}{_RIGHT}",
            f"[🚶🧎🏃]{_SKIN}{_JOINER}➡{_VS}",
            *(f"{first}{_VS}{_JOINER}{second}{_VS}" for first, second in _OTHERS),
            f"🏴(?:{_FLAGS})\U000e007f(?![\U000e0020-\U000e007f])",
        )
    )
)
"""A whole sequence."""
