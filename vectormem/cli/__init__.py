"""The command line: `vectormem`, or `python -m vectormem`."""
