"""Plain Python under everything else: errors, spans, switches, timing, fingerprints. Standard library only."""
