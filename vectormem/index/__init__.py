"""Vectors in memory and the search over them, pure."""
