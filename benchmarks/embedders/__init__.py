"""Quality and speed of embedders on data read from a path, never shipped: `python -m benchmarks.embedders`."""
