"""The default provider: Linux namespaces, a seccomp allow list and limits.

A zygote (a warm interpreter in a bubblewrap box without network, environment or rights) clones
itself for every submission into fresh namespaces. `box.py` says what a box contains, `filters.py`
which system calls it may make, `launch.py` starts it, `zygote.py` gives it orders, `children.py`
follows one child from its request to its outcome, `workspace.py` is a sandbox with files and
commands, `node.py` keeps Node warm, `cgroups.py` limits groups of processes, `probe.py` finds out
what this machine can do, and `provider.py` puts it all together.
"""
