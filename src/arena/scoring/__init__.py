"""Scores from evidence: components, the overall score, intervals, ranks, comparisons.

Evidence about an agent version is stored as one `Share` per component (`components.py`): integers
that can be added in any order. `scorecard.py` turns shares into scores from 0 to 100, each with an
interval; `board.py` ranks agents, `comparison.py` tests whether a difference is significant and
`regression.py` whether a run is worse than its baseline, both with `power.py` on what they could
detect; `clusters.py` says which tests are independent evidence and `item_quality.py` which say
little; `trials.py` counts repeats and `pareto.py` plots accuracy against cost. A score is a
`Decimal` with two decimals, a statistic is a `float`, and None always means "no data".

Those files are pure functions without random numbers, and the API sends the values they return.
`scores.Scores` is the entry point; only `records/` uses the tables. docs/scoring.md
explains the numbers to readers.
"""
