"""What runs inside the box, on the far side of the wall.

These files are read as text by the provider and started in the sandbox by an interpreter that
has the standard library and nothing else. They import each other and the standard library only,
and run on every Python from 3.9 on. Nothing secret may ever be in them or reach them: a
submission can read all of their memory. `encode.py` and `tags.py` are also used outside, so that
both sides speak one format.
"""
