"""Documents that people write: YAML files, read so that every problem has a line and a column.

`yaml_reader` turns a file into plain values and remembers the position of each; `problem` describes
a mistake and its position; `validation` turns pydantic's errors into messages that are the same
everywhere. Both test files and agent files are read with these.
"""
