"""The limit: one table with a text and a vector, without any rule of a memory, in plain SQL."""

import threading
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import psycopg
from pgvector import Vector
from pgvector.psycopg import register_vector
from psycopg import sql


class PlainTable:
    """A table of a schema; each thread has a connection of its own."""

    def __init__(self, dsn: str, schema: str, dimensions: int) -> None:
        self._dsn = dsn
        self._schema = schema
        self._own = threading.local()
        self._opened: list[psycopg.Connection[Any]] = []
        name = sql.Identifier(schema)
        connection = self._connection()
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
        connection.execute(
            "CREATE TABLE IF NOT EXISTS plain (id bigint GENERATED ALWAYS AS IDENTITY, key text NOT NULL,"
            f" text text NOT NULL, embedding vector({dimensions}) NOT NULL, PRIMARY KEY (key, id))"
        )

    def add_many(self, key: str, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Insert rows in one transaction."""
        connection = self._connection()
        with connection.transaction(), connection.cursor() as cursor:
            rows = [(key, text, Vector(vector)) for text, vector in zip(texts, vectors, strict=True)]
            cursor.executemany("INSERT INTO plain(key, text, embedding) VALUES (%s, %s, %b)", rows)

    def nearest(self, key: str, vector: np.ndarray, limit: int) -> list[Any]:
        """Return the nearest texts of a key with their distances."""
        query = "SELECT text, embedding <=> %b AS distance FROM plain WHERE key=%s ORDER BY distance LIMIT %s"
        return self._connection().execute(query, (Vector(vector), key, limit)).fetchall()

    def drop(self) -> None:
        """Drop the schema with all that is in it."""
        self._connection().execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(self._schema)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._opened:
            connection.close()

    def _connection(self) -> psycopg.Connection[Any]:
        connection: psycopg.Connection[Any] | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = psycopg.connect(self._dsn, autocommit=True)
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            register_vector(connection)
            path = sql.SQL("SET search_path TO {}, public").format(sql.Identifier(self._schema))
            connection.execute(path)
            self._opened.append(connection)
        return connection
