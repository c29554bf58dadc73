"""Content by CID: put, get (always verified), pin, and archives to carry it elsewhere.

A *CID* names content by its hash, so whoever has the CID can check the bytes. Standards,
submissions and verdict records are stored here. `store.py` keeps blocks in a folder, `tree.py` cuts
content into blocks, `cid.py` names them, `archive.py` packs them, `canonical.py` makes equal values
equal bytes. May import `arena.errors`, `arena.files`, `arena.text` and `arena.clock`.
"""
