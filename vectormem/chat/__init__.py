"""Chats as memory: messages are stored, embedded, and found again."""
