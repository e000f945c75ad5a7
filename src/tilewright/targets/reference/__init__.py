"""The reference as a target: kernels run on NumPy, op by op, as the front end made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright.targets.reference.target import ReferenceTarget


def make_target() -> ReferenceTarget:
    """The reference target."""
    from tilewright.targets.reference.target import ReferenceTarget

    return ReferenceTarget()
