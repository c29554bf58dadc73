#!/bin/bash
cd /app
python3 - <<'PYTHON'
import collections, json, re
words = re.findall(r"[a-z']+", open("/app/speech.txt").read().lower())
json.dump(collections.Counter(words), open("/app/counts.json", "w"))
PYTHON
