"""Emoji that are made of several characters, joined by U+200D.

The sequences that Unicode 16 recommends, as a grammar: people with a role, a gender or a direction,
families, couples, and a few others. Any other joiner could hide something and is marked.
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
        )
    )
)
"""A whole sequence."""
