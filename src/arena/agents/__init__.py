"""The agents Arena knows and the ways to reach them.

An **agent** is described by a YAML file (`agent_file`) that the **registry** reads and keeps up to
date. `connect(agent)` gives a **connector**: one question in, one answer out, with secrets redacted
and timeouts that end the work. There are five connectors (`command`, `python`, `http`, `openai`,
`a2a`), each loaded when it is first used; other packages add theirs by the entry point group
`arena.connectors`.

This room imports `models`, `documents` and the ground floor. It reads no settings: folders
are passed in; of the environment it reads only the variables that an agent's file names.
"""
