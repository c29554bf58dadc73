"""The worked example of a commitment, recomputed from the text of the guide."""

import hashlib
import json
import re
from pathlib import Path

from arena.market.signing import commitment_of

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "earn.md"


def test_the_example_in_the_guide_is_computed_by_its_formula():
    found = re.search(
        r"```json\n(\{.*\"salt\".*\})\n```.*?`([0-9a-f]{64})`", GUIDE.read_text(), re.S
    )
    assert found is not None
    text, commitment = found.groups()
    assert hashlib.sha256(text.encode()).hexdigest() == commitment
    body = json.loads(text)
    written = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert written == text
    made = commitment_of(body["market"], body["task"], body["agent"], body["result"], body["salt"])
    assert made == commitment
