"""Content by CID: put, get (always verified), pin, publish, and archives to transfer it.

A *CID* identifies content by its hash, so anyone with the CID can check the bytes. Standards,
submissions and verdict records are stored here. `store.py` keeps blocks in a folder, `tree.py`
splits content into blocks, `cid.py` identifies them, `archive.py` packs them, `canonical.py` turns
equal values into equal bytes.

A *source* is where content can be read: the folder, a Kubo daemon (`kubo.py`) or a gateway
(`gateway.py`), both over HTTP with limits (`network.py`). `tiered.py` looks for what the folder
does not have in the other sources. If several machines work on one database, `shared.py` keeps all
content in a table (`table.py`) as well. `ports.py` is what other rooms use. May import
`arena.errors`, `arena.files`, `arena.text`, `arena.clock`, `arena.team`, `arena.pools` and
`arena.postgres`.
"""
