"""Rows in JSON files."""
