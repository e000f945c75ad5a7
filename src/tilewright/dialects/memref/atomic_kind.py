"""What an atomic read-modify-write does."""

from enum import IntEnum


class AtomicRMWKind(IntEnum):
    """The kinds of ``memref.atomic_rmw`` by the integers that the attribute stores."""

    ADDF = 0
    ADDI = 1
    ANDI = 2
    ASSIGN = 3
    MAXIMUMF = 4
    MAXNUMF = 5
    MAXS = 6
    MAXU = 7
    MINIMUMF = 8
    MINNUMF = 9
    MINS = 10
    MINU = 11
    MULF = 12
    MULI = 13
    ORI = 14
    XORI = 15

    @property
    def is_float(self) -> bool:
        """Does it combine floats? `ASSIGN` takes either."""
        return self.name.endswith("F")
