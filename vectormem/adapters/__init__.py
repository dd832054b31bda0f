"""Memory inside agent frameworks: one module a framework, each behind an extra of its own."""
