"""The family of a language model, from its name as providers write it.

A judge prefers answers in the manner of its own model, and models of one family share it. A family
is what was trained from the same data and weights, not a vendor: one that serves other vendors'
models says nothing about them, so only the model's own name is read.
"""

import functools
import re
from collections.abc import Iterable

FAMILIES = {
    # Models of EleutherAI are called GPT too, but share nothing with OpenAI's.
    "gpt": r"(?:chat)?gpt(?!-?(?:j|neo))|o[1-9]|(?:text-)?davinci|codex",
    "claude": r"claude",
    # Google trains Gemma by distillation from Gemini.
    "gemini": r"gemini|(?:[a-z]+)?gemma|learnlm",
    "llama": r"(?:code)?llama|vicuna",
    "mistral": r"mistral|mixtral|ministral|codestral|devstral|magistral|pixtral|voxtral|zephyr",
    "qwen": r"(?:code)?qwen|qwq|qvq",
    "deepseek": r"deepseek",
    "grok": r"grok",
    "command": r"(?:c4ai-)?command-(?:r|a|light|nightly)(?![a-z])|(?:c4ai-)?aya",
    "phi": r"phi-?\d",
    "smollm": r"smollm|smolvlm",
    "nova": r"nova-(?:micro|lite|pro|premier|2)",
    "granite": r"granite",
    "glm": r"(?:chat)?glm",
    "kimi": r"kimi|moonshot",
    "minimax": r"minimax|abab",
    "nemotron": r"nemotron",
    "olmo": r"olmo",
    "jamba": r"jamba",
    "falcon": r"falcon",
    "yi": r"yi-(?:\d|large|lightning|coder)",
    "hunyuan": r"hunyuan",
    "ernie": r"ernie",
}
"""Regular expressions of what a name of the family begins with, after a separator."""


@functools.cache  # compiled on first use: few runs have a judge
def _names() -> re.Pattern[str]:
    families = "|".join(f"(?P<{family}>{pattern})" for family, pattern in FAMILIES.items())
    # `llama3` and `llama-3` are names; `llamafile` is not.
    return re.compile(rf"(?<![a-z0-9])(?:{families})(?![a-z])")


def model_families(name: str | None) -> tuple[str, ...]:
    """Every family that a model's name tells, in that order; empty if it tells none.

    A distilled model has two: `deepseek-r1-distill-qwen-7b` has Qwen's weights and writes like
    DeepSeek's R1. A model fine-tuned by a customer has that of its base.
    """
    if not name:
        return ()
    path = name.casefold()
    if path.startswith("ft:"):
        # `ft:base:organisation:name:id`; customers choose the rest freely.
        path = path.split(":")[1]
    # The folders before the name are those of a host or a vendor, unless the name tells nothing.
    for part in (path.rpartition("/")[2], path):
        found = [match.lastgroup or "" for match in _names().finditer(part)]
        if found:
            return tuple(dict.fromkeys(found))
    return ()


def same_family(
    agent_models: Iterable[str | None], judge_models: Iterable[str | None]
) -> str | None:
    """A family that a model of the agent and one of its judges have in common, if there is one.

    Of a model whose name tells no family, the name itself counts: it is related to itself.
    """
    judges = {family for name in judge_models for family in _relations(name)}
    ours = (family for name in agent_models for family in _relations(name))
    return next((family for family in ours if family in judges), None)


def _relations(name: str | None) -> tuple[str, ...]:
    return model_families(name) or ((name.casefold(),) if name else ())
