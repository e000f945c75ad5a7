"""The modes of passes that a model of the machine may decide for."""

AUTO = "auto"
"""Where the model says that it pays."""
ALWAYS = "always"
"""Wherever it may be done."""
NEVER = "never"
