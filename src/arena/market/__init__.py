"""Who pays whom: tasks with a reward, their states, the ledger and the escrow it holds."""
