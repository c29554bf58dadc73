"""Content by CID: put, get (always verified), pin, and archives to transfer it.

A *CID* identifies content by its hash, so anyone with the CID can check the bytes. Standards,
submissions and verdict records are stored here. `store.py` keeps blocks in a folder, `tree.py`
splits content into blocks, `cid.py` identifies them, `archive.py` packs them, `canonical.py` turns
equal values into equal bytes. May import `arena.errors`, `arena.files`, `arena.text` and
`arena.clock`.
"""
