"""Rows in a Postgres database with pgvector."""
