"""From Triton IR to TritonGPU IR: every tensor gets a layout."""
