"""The market on a chain: the contract `ArenaMarket`, and what is needed to use it.

`ArenaMarket.vy` is the source of the contract, `ArenaMarket.json` the compiled *artifact* that
ships with Arena, so that nobody needs a compiler; `scripts/compile_contract.py` makes the second
from the first. `node.py` asks a chain's *node*, `keys.py` signs with the private keys of this
machine's parties, and `outbox.py` sends *transactions* that happen exactly once: each is an
*intent* in the database before its first *attempt* is sent. Libraries for chains (eth_abi,
eth_account) are imported only when they are used.

This room imports the market and the rooms below it.
"""
