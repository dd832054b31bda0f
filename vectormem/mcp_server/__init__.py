"""The MCP server: the memory of a file or of slots, for hosts that speak the Model Context Protocol."""
