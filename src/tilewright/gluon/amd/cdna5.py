"""Descriptors for the tensor data mover of CDNA5."""

from __future__ import annotations

from tilewright.language.gluon.amd.refused import OfAmd


class TensorDescriptor(OfAmd):
    """A tensor that the mover copies tiles of: an error that names it."""

    @staticmethod
    def from_tensor(tensor: object, block_shape: object, layout: object) -> TensorDescriptor:
        """Raises ValueError: there is no target that could take one."""
        return TensorDescriptor(tensor, block_shape, layout)


__all__ = ["TensorDescriptor"]
