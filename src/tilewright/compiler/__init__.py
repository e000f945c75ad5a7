"""From a kernel and its specialisation to an artefact: options, compilation, and the cache of what was compiled."""
