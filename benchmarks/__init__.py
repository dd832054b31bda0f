"""Measures vectormem beside its peers and beside the limits that it cannot pass: `python -m benchmarks --help`."""
