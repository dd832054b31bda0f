"""Memories: one set of rules over every store, ranked by words or by meaning."""
