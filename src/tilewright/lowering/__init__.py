"""One folder for each arrow between stages; importing this package registers the passes."""

from tilewright.lowering import tt_to_structured

__all__ = ["tt_to_structured"]
