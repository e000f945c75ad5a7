"""Random kernels and mutated IR: what looks for miscompiled code and crashes without being told where."""
