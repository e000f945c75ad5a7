"""How often the system took a core away from this process."""

from __future__ import annotations

try:
    from resource import RUSAGE_SELF, getrusage
except ImportError:  # Windows

    def preemptions() -> int:
        """Nothing says so here: 0."""
        return 0

else:

    def preemptions() -> int:
        """Return how many times the system has interrupted a thread of this process, to run something else."""
        return getrusage(RUSAGE_SELF).ru_nivcsw
