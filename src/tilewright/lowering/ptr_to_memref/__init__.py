"""From pointer types to memref types in signatures and control flow, and to addresses of the `ptr` dialect."""
