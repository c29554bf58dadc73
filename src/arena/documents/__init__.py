"""Documents that people write: YAML files, read so that every problem has a line and a column.

`yaml_reader` turns a file into plain values and remembers where each of them stands; `problem` says
what is wrong and where; `validation` words what pydantic finds in the same way everywhere. Test
files and agent files are both read with these.
"""
