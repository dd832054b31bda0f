"""The rules by which texts match a query, pure."""
