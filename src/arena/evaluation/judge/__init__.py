"""The judge: models that score a submission by a standard's criteria.

A **judge** is a *panel*: one or more models at one OpenAI-compatible endpoint, each voting once or
several times. A *vote* scores every criterion with a whole number, a reason and a quote; the lower
median of the votes counts. The submission is data: it is sent in a separate message between
unguessable delimiters, and an answer that does not fit the schema is not a score but a
`JudgeError`. `measure` measures how well a judge agrees with people, and how far it can be
manipulated.
"""
