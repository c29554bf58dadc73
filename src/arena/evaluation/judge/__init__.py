"""The judge: models that score a submission by a standard's criteria.

A **judge** is a *panel*: one or more models at one OpenAI-compatible endpoint, each voting once or
several times. A *vote* scores every criterion with a whole number, a reason and a quote; the lower
median of the votes counts. The submission is data: it is sent in a message of its own between
delimiters that nobody can guess, and an answer that does not fit the schema is not a score but a
`JudgeError`. `measure` finds out how well a judge agrees with people, and how far it can be
manipulated.
"""
