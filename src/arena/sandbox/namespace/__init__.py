"""The default provider: Linux namespaces, a seccomp allow list and limits.

A zygote (a warm interpreter in a bubblewrap box without network, environment or rights) clones
itself for every submission into fresh namespaces. `box.py` defines what a box contains,
`filters.py` its system calls; `launch.py` starts it, `zygote.py` controls it, `children.py` follows
one child from its request to its outcome, `workspace.py` is a sandbox with files and commands,
`node.py` keeps Node warm, `cgroups.py` limits groups of processes, `probe.py` checks what this
machine can do, and `provider.py` combines them.
"""
