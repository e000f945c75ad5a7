"""Passes from a stage to the same stage, one package per stage. `registration` imports them all."""
