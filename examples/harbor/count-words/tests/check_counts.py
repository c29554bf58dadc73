"""Prints the reward for a file of word counts."""

import json
import re
import sys
from collections import Counter
from pathlib import Path

speech, answer = Path(sys.argv[1]), Path(sys.argv[2])
expected = Counter(re.findall(r"[a-z']+", speech.read_text().lower()))
counts = json.loads(answer.read_text())
print(1 if counts == expected else 0.5 if counts.keys() == expected.keys() else 0)
