"""The launch cache in native code: which calls it knows, how it reads their arguments, and the code itself."""
