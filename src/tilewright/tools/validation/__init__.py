"""Running one launch on every stage of the compiler, and comparing what comes out."""
