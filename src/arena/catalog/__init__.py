"""What is asked: the tests, read from YAML files."""
