#!/bin/bash
# The reward is 1 if every count is right, and half of it if only the words are.
python3 /tests/check_counts.py /app/speech.txt /app/counts.json > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt
