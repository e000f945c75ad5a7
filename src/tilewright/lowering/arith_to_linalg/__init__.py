"""From tt and tensor arithmetic to linalg: everything but memory."""
