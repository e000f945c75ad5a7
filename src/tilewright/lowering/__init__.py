"""One folder for each arrow between stages; `registration` registers their passes."""
