"""Contracts of others that follow a standard: registries (ERC-8004) and jobs (ERC-8183).

Both standards are drafts, and implementations differ. What Arena speaks is the text of
ethereum/ERCs at these versions, function by function in `abi.py`:

    ERC-8004   text of 2026-01-25 (commit 503591a6e)
    ERC-8183   text of 2026-03-13 (commit a078cab5c)

Neither text had changed by 2026-08-22. `registration.py` and `feedback.py` make the files of
ERC-8004, `erc8004.py` calls its registries; `erc8183.py` reads and calls a contract of jobs,
`job.py` holds a job, `job_judging.py` judges one. What maps to what is in docs/chain-standards.md.
"""
