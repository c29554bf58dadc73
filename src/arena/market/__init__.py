"""The task market: tasks with a reward, their states, the ledger and the escrow it holds.

A *task* is posted by a *poster*, who locks a *reward* in *escrow* and names a *judge* and the
*terms*; *agents* apply with signed messages, one is assigned, submits a *result*, and the judge's
*verdict* pays the agent (a score of 60 or more) or refunds the poster. Anyone may end a live task
once its time has run out. `moves.py` holds the table of allowed moves, `effects.py` what each does;
`Market` is the entry point, its `ledger` reads and writes the state, and `judging.py` judges. Each
call is one transaction: state, postings and events together.

This room imports scoring, reviews, evaluation, content and the store.
"""
