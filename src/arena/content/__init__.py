"""Bytes by CID: put, get (always verified), pin.

A *CID* names content by its hash, so whoever has the name can check the bytes. Standards,
submissions and verdict records are kept here. May import `arena.errors`.
"""
