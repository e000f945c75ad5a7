"""From accesses on base and offset to single elements of memref."""
