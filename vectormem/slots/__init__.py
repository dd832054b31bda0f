"""An agent's named memories: definition, scopes, recalled block, tools, runs."""
