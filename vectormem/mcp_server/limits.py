"""How large a request may be."""

MOST_BYTES = 2**20
"""An item is a short statement; the largest request that the server reads, over either transport."""
