"""Model families, from names as providers write them."""

import pytest

from arena.models.family import FAMILIES, model_families, same_family


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-5.1-mini", "gpt"),
        ("GPT-4o", "gpt"),
        ("chatgpt-4o-latest", "gpt"),
        ("openai/o4", "gpt"),
        ("o3-mini-2025-01-31", "gpt"),
        ("azure/gpt-4o-mini", "gpt"),
        ("openai/gpt-oss-120b", "gpt"),
        ("ft:gpt-4o-2024-08-06:acme:claude-style:abc", "gpt"),
        ("claude-sonnet-4-5", "claude"),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", "claude"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude"),
        ("openrouter/anthropic/claude-3.7-sonnet:thinking", "claude"),
        ("claude-opus-4@20250514", "claude"),
        ("models/gemini-2.5-pro", "gemini"),
        ("publishers/google/models/gemini-2.0-flash", "gemini"),
        ("google/gemma-3-27b-it", "gemini"),
        ("gemma2:9b", "gemini"),
        ("codegemma:7b", "gemini"),
        ("meta-llama/Llama-3.3-70B", "llama"),
        ("meta.llama3-1-70b-instruct-v1:0", "llama"),
        ("llama3.2:latest", "llama"),
        ("@cf/meta/llama-3.1-8b-instruct", "llama"),
        ("hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M", "llama"),
        ("codellama-34b", "llama"),
        ("mistral-large", "mistral"),
        ("open-mixtral-8x22b", "mistral"),
        ("mixtral", "mistral"),
        ("mistralai/Codestral-22B-v0.1", "mistral"),
        ("qwen3-235b-a22b", "qwen"),
        ("Qwen/QwQ-32B", "qwen"),
        ("deepseek-chat", "deepseek"),
        ("deepseek-r1-distill-qwen-7b", "deepseek"),
        ("grok-4", "grok"),
        ("command-r-plus", "command"),
        ("command-a-03-2025", "command"),
        ("phi-4", "phi"),
        ("microsoft/Phi-3.5-mini-instruct", "phi"),
        ("smollm2", "smollm"),
        ("HuggingFaceTB/SmolLM2-1.7B-Instruct", "smollm"),
        ("amazon.nova-pro-v1:0", "nova"),
        ("moonshotai/Kimi-K2-Instruct", "kimi"),
        ("glm-4.6", "glm"),
        ("yi-34b-chat", "yi"),
    ],
)
def test_a_name_tells_its_family(name: str, family: str) -> None:
    assert model_families(name)[0] == family
    assert family in FAMILIES


@pytest.mark.parametrize(
    "name",
    [
        None,
        "",
        "my-model",
        "openai/my-model",  # an endpoint that speaks OpenAI's protocol can serve anything
        "anthropic/experiment",
        "gpt-neox-20b",
        "EleutherAI/gpt-j-6b",
        "llamafile",
        "command-line-tool",
        "run-command-router",
        "nova",
        "philosopher",
        "demo1",
        "solo3",
        "ft:",
    ],
)
def test_a_name_that_tells_none_has_no_family(name: str | None) -> None:
    assert model_families(name) == ()


def test_a_distilled_model_has_the_family_of_its_teacher_and_of_its_weights() -> None:
    assert model_families("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B") == ("deepseek", "qwen")
    assert model_families("nvidia/Llama-3.1-Nemotron-70B-Instruct") == ("llama", "nemotron")


@pytest.mark.parametrize(
    ("agent", "judge", "family"),
    [
        (["gpt-4o"], ["openai/o4-mini"], "gpt"),
        (["claude-sonnet-4-5"], ["gpt-5"], None),
        (["gpt-4o", "qwen3-8b"], ["claude-opus-4", "deepseek-r1-distill-qwen-7b"], "qwen"),
        # A model is related to itself, but two unknown ones are not known to be related.
        (["My-Model"], ["my-model"], "my-model"),
        (["my-model"], ["your-model"], None),
        ([None], [None], None),
        ([], ["gpt-5"], None),
    ],
)
def test_agent_and_judge_of_one_family_are_found(
    agent: list[str | None], judge: list[str | None], family: str | None
) -> None:
    assert same_family(agent, judge) == family
    assert same_family(judge, agent) == family
