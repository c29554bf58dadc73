"""The code that runs inside the box.

The provider reads these files as text, and an interpreter in the sandbox, with only the standard
library, runs them. They import only each other and the standard library, and work on every Python
from 3.9 on. Nothing secret may ever be in them or reach them: a submission can
read all of their memory. `encode.py` is also used outside, so that both sides share one format.
"""
