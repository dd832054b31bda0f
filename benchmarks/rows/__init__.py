"""The measurements, one kind of row a file."""
