"""Judges answers: standards, submissions and verdicts.

A *standard* says what a good answer is, a *submission* is the answer, and `evaluate` turns the two
into a *verdict*: a score, pass or fail, and the findings with their evidence. This is
the only place that judges: a benchmark test and a paid task differ only in what happens after the
verdict.

Its resources are passed in: the sandbox for test cases, a model for a judge's criteria, people's
answers for a checklist. It uses neither the database nor the web.
"""
