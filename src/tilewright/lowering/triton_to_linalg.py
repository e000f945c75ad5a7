"""The middle layer as one pipeline, under triton-shared's names."""

from __future__ import annotations

from tilewright.ir.passes import PassPipeline, build_passes, register_pipeline


def _spelled(value: bool) -> str:
    return "true" if value else "false"


def triton_to_linalg(
    enable_make_gather_scatter: bool = True,
    transpose_reduce_to_rank0: bool = True,
    enable_collapse_shape: bool = False,
) -> PassPipeline:
    """Lowers Triton IR to linalg on tensors and memref, which `mlir-opt` and the CPU back end accept."""
    to_linalg = {"tensor-ptr-to-linalg": "true", "transpose-reduce-to-rank0": _spelled(transpose_reduce_to_rank0)}
    steps: list[tuple[str, dict[str, str]]] = [
        # Reads, writes and polls become read-modify-writes.
        ("triton-expand-atomics", {}),
        ("triton-print-addresses", {}),
        # Assembly that treats every lane by itself becomes ops.
        ("triton-inline-ptx-to-arith", {}),
        # Accesses whose addresses are affine in the lane become tts; what carried their addresses is left without uses.
        ("triton-to-structured", {"enable-make-gather-scatter": _spelled(enable_make_gather_scatter)}),
        # Equal offsets become one value, dead address arithmetic goes.
        ("cse", {}),
        ("canonicalize", {}),
        # The other accesses become base and offset.
        ("triton-to-unstructured", {}),
        # Arguments that are tiles of pointers are memory as they are.
        ("tile-arguments-to-memref", {}),
        # Everything that is not memory becomes linalg; ids become arguments, tt.func becomes func.func.
        ("triton-arith-to-linalg", to_linalg),
        # Memory.
        ("structured-to-memref", {}),
        ("unstructured-to-memref", {}),
        # Signatures and control flow, then the casts between the old and the new types.
        ("triton-ptr-to-memref", {}),
        ("reconcile-unrealized-casts", {}),
        # Loop-carried values and private arguments that nobody reads, then what they were computed from.
        ("remove-dead-values", {}),
        ("cse", {}),
        ("canonicalize", {}),
        # What follows in other compilers may fold constants.
        ("hide-negative-offsets", {}),
        # Loops of lower rank, for targets that ask for them.
        *([("collapse-shape", {})] if enable_collapse_shape else []),
    ]
    return PassPipeline(pass_ for name, options in steps for pass_ in build_passes(name, options))


def triton_to_linalg_experimental(
    enable_make_gather_scatter: bool = True,
    transpose_reduce_to_rank0: bool = True,
    enable_collapse_shape: bool = False,
) -> PassPipeline:
    """The same as `triton-to-linalg`. In triton-shared, this is the name of the pipeline."""
    return triton_to_linalg(enable_make_gather_scatter, transpose_reduce_to_rank0, enable_collapse_shape)


register_pipeline("triton-to-linalg", triton_to_linalg)
register_pipeline("triton-to-linalg-experimental", triton_to_linalg_experimental)
