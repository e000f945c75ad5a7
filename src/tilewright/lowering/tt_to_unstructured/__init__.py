"""From pointers to a base and element offsets."""
