"""From the linalg stage to loops over explicit vectors: `linalg-to-loops`, and what marks ops for it."""
