"""The tables of a database file, built by numbered steps; the number of the last one is in `user_version`."""

import apsw

from vectormem.errors import StorageFailedError


def _items(connection: apsw.Connection) -> None:
    connection.execute(
        """
        CREATE TABLE memory_keys (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            key TEXT NOT NULL UNIQUE,
            items INTEGER NOT NULL,       -- rows in memory_items
            last_seq INTEGER NOT NULL,    -- the highest seq given out so far
            version INTEGER NOT NULL,     -- grows with every change
            log_start INTEGER NOT NULL    -- memory_changes is complete for versions beyond this one
        );
        CREATE TABLE memory_items (
            key_id INTEGER NOT NULL REFERENCES memory_keys(id),
            seq INTEGER NOT NULL,         -- order of insertion
            id TEXT NOT NULL,
            text TEXT NOT NULL,
            text_hash BLOB NOT NULL,      -- BLAKE2b, 16 bytes, of the UTF-8 text
            metadata TEXT,                -- JSON
            created_at INTEGER NOT NULL,  -- microseconds since 1970, UTC
            PRIMARY KEY (key_id, seq)
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX memory_items_by_text ON memory_items(key_id, text_hash);
        CREATE UNIQUE INDEX memory_items_by_id ON memory_items(key_id, id);
        CREATE TABLE memory_copied (
            key_id INTEGER NOT NULL REFERENCES memory_keys(id),
            id TEXT NOT NULL,             -- an item of an older key that a migration copied here
            PRIMARY KEY (key_id, id)
        ) WITHOUT ROWID;
        """
    )


def _vectors(connection: apsw.Connection) -> None:
    connection.execute(
        """
        CREATE TABLE memory_embedders (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE
        );
        CREATE TABLE memory_vectors (
            key_id INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            embedder_id INTEGER NOT NULL REFERENCES memory_embedders(id),
            embedding BLOB NOT NULL,      -- float32, little-endian, unit length
            PRIMARY KEY (key_id, seq),
            FOREIGN KEY (key_id, seq) REFERENCES memory_items(key_id, seq)
        ) WITHOUT ROWID;
        CREATE TABLE memory_changes (
            key_id INTEGER NOT NULL REFERENCES memory_keys(id),
            version INTEGER NOT NULL,
            seq INTEGER NOT NULL,         -- a row whose vector was deleted or replaced in this version
            PRIMARY KEY (key_id, version, seq)
        ) WITHOUT ROWID;
        """
    )


def _chats(connection: apsw.Connection) -> None:
    connection.execute(
        """
        CREATE TABLE chat_keys (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            key TEXT NOT NULL UNIQUE,
            last_seq INTEGER NOT NULL,    -- the highest seq given out so far
            version INTEGER NOT NULL,     -- grows with every change
            last_deletion INTEGER NOT NULL  -- the version that deleted a message last
        );
        CREATE TABLE chat_conversations (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            key_id INTEGER NOT NULL REFERENCES chat_keys(id),
            name TEXT NOT NULL,
            UNIQUE (key_id, name)
        );
        CREATE TABLE chat_messages (
            key_id INTEGER NOT NULL REFERENCES chat_keys(id),
            seq INTEGER NOT NULL,         -- order of insertion
            id TEXT NOT NULL,
            conversation INTEGER NOT NULL REFERENCES chat_conversations(id),
            role TEXT NOT NULL,
            content TEXT NOT NULL,
            metadata TEXT,                -- JSON
            created_at INTEGER NOT NULL,  -- microseconds since 1970, UTC
            length INTEGER NOT NULL,      -- characters without white space around them
            words INTEGER NOT NULL,       -- words that carry meaning
            asks INTEGER NOT NULL,        -- 1 where it ends with a question
            version INTEGER NOT NULL,     -- the version that stored this state of the message or its vectors
            PRIMARY KEY (key_id, seq)
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX chat_messages_by_id ON chat_messages(key_id, id);
        CREATE INDEX chat_messages_in_order ON chat_messages(conversation, created_at, seq);
        CREATE INDEX chat_messages_by_version ON chat_messages(key_id, version);
        """
    )


def _chat_vectors_and_words(connection: apsw.Connection) -> None:
    connection.execute(
        """
        CREATE TABLE chat_vectors (
            key_id INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            part INTEGER NOT NULL,        -- 0, 1, ...: passages; -1: the message after the one it answers
            start INTEGER NOT NULL,       -- characters of the content, from start to end - 1
            end INTEGER NOT NULL,
            embedder_id INTEGER NOT NULL REFERENCES memory_embedders(id),
            embedding BLOB NOT NULL,      -- float32, little-endian, unit length
            PRIMARY KEY (key_id, seq, part),
            FOREIGN KEY (key_id, seq) REFERENCES chat_messages(key_id, seq)
        ) WITHOUT ROWID;
        CREATE TABLE chat_words (
            key_id INTEGER NOT NULL,
            word TEXT NOT NULL,
            seq INTEGER NOT NULL,
            count INTEGER NOT NULL,       -- times that the message holds the word
            PRIMARY KEY (key_id, word, seq),
            FOREIGN KEY (key_id, seq) REFERENCES chat_messages(key_id, seq)
        ) WITHOUT ROWID;
        CREATE INDEX chat_words_by_message ON chat_words(key_id, seq);
        """
    )


def _statistics(connection: apsw.Connection) -> None:
    """Tell SQLite's planner how many rows a key has: without figures it takes ten, and reads whole keys."""
    connection.execute("ANALYZE memory_keys")  # makes the table of figures
    for table, index, figures in _FIGURES:
        connection.execute("DELETE FROM sqlite_stat1 WHERE tbl=? AND idx=?", (table, index))
        connection.execute("INSERT INTO sqlite_stat1(tbl, idx, stat) VALUES(?,?,?)", (table, index, figures))
    connection.execute("ANALYZE sqlite_schema")  # reads the figures


# Rows of the table, then rows that agree in the first column of the index, in the first two, and so on.
_FIGURES = (
    ("memory_items", "memory_items", "1000000 10000 1"),
    ("memory_items", "memory_items_by_text", "1000000 10000 1"),
    ("memory_items", "memory_items_by_id", "1000000 10000 1"),
    ("memory_vectors", "memory_vectors", "1000000 10000 1"),
    ("chat_messages", "chat_messages", "1000000 10000 1"),
    ("chat_messages", "chat_messages_by_id", "1000000 10000 1"),
    ("chat_messages", "chat_messages_in_order", "1000000 100 1 1"),
    ("chat_messages", "chat_messages_by_version", "1000000 10000 2"),
    ("chat_vectors", "chat_vectors", "2000000 20000 2 1"),
    ("chat_words", "chat_words", "10000000 100000 20 1"),
    ("chat_words", "chat_words_by_message", "10000000 100000 10"),
)

MIGRATIONS = (_items, _vectors, _chats, _chat_vectors_and_words, _statistics)


def migrate(connection: apsw.Connection, path: str) -> None:
    """Bring a database up to date in one transaction."""
    if check_version(connection, path) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in MIGRATIONS[check_version(connection, path) :]:
            step(connection)
        connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def check_version(connection: apsw.Connection, path: str) -> int:
    """Return how many of the migrations the database has had; refuse one that a newer vectormem has changed."""
    version = int(connection.execute("PRAGMA user_version").get)
    if version > len(MIGRATIONS):
        raise StorageFailedError(
            f"the database {path} has schema version {version}, newer than {len(MIGRATIONS)}: "
            "upgrade vectormem to use it"
        )
    has_tables = connection.execute("SELECT 1 FROM sqlite_schema WHERE name='memory_items'").get
    return version if has_tables else 0
