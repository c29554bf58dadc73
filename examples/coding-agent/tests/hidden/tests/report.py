"""Runs the hidden tests, and writes the score only when all of them have been executed."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, ".")
result = unittest.TextTestRunner().run(unittest.defaultTestLoader.discover("tests"))
failed = len(result.failures) + len(result.errors)
score = 100 * (result.testsRun - failed) // result.testsRun if result.testsRun else 0
Path("report.json").write_text(json.dumps({"score": score, "reason": f"{failed} tests fail"}))
