"""Each pattern that triton-shared has a file test for has one here: this is the table from its names to our files."""

from __future__ import annotations

from pathlib import Path

import corpus_oracle

FILES = Path(__file__).parents[2] / "file"

OTHER_NAMES = {
    "gather_scatter_ptr_to_linalg": "patterns/gather_scatter_ptr",
    "gather_scatter_ptr_simple_to_memref": "structured_to_memref/gathered_rows",
    "gather_scatter_ptr_3d_to_linalg": "patterns/gather_scatter_ptr_3d",
    "gather_scatter_ptr_in_loop_to_linalg": "patterns/gather_scatter_ptr_in_loop",
    "scalar_store_loop_iterargs": "patterns/scalar_store_loop",
    "tensor_indices_loop_iterargs_not_used_ptranalysis_e2e": "patterns/tensor_indices_loop_iterargs_not_used",
    "tensor_indices_loop_iterargs_not_used_ptranalysis_prepass": "tt_to_structured/prepass",
    "triton-to-structured-prepass": "tt_to_structured/prepass",
    "unstructured_mask_2d_kernel": "patterns/unstructured_mask_2d",
    "unstructured_mask_2d_non_continuous_load_kernel unstructured_mask_2d_non_continuous_store_kernel "
    "unstructured_mask_3d_non_continuous_load_kernel unstructured_mask_3d_non_continuous_store_kernel": (
        "patterns/unstructured_mask_2d_non_continuous"
    ),
    "unstructured_mask_3d_kernel": "patterns/unstructured_mask_3d",
    "call_empty_args early_return get_num_programs triton_assert": "arith_to_linalg/functions",
    "convert_1d_elemwise_arith_binary convert_2d_elemwise_arith_binary convert_1d_elemwise_arith_ternary "
    "convert_2d_elemwise_arith_ternary convert_1d_elemwise_arith_unary convert_2d_elemwise_arith_unary "
    "convert_extern_elementwise convert_minmax": "arith_to_linalg/elementwise",
    "convert_addi_reduce convert_argmin_argmax convert_argmin_argmax_2d convert_minmax_fp_reduce "
    "convert_minmax_reduce cumsum reduce_extend_fp32_precision reducemax_32_256_bf16 reducesum_512_256_bf16_axis0 "
    "reducesum_512_256_bf16_axis1 reducesum_512_256_f32_axis0 reducesum_512_256_f32_axis1 reducesum_middle_dim "
    "reducesum_scalar": "arith_to_linalg/reductions",
    "convert_splat_float convert_tensor_reshape join split": "arith_to_linalg/creation_and_shape",
    "dot": "arith_to_linalg/dot",
    "unsupported_extern_elementwise": "arith_to_linalg/left_alone",
    "triton_tensor_ptr_ops": "arith_to_linalg/tensor_pointers",
    "make_tensor_ptr_ordering_error": "structured_to_memref/loads_and_stores",
    "wraparound_stacked_load": "structured_to_memref/wrap_around",
    "gather_no_loop gather_mask_no_other gather_mask_with_other gather_no_mask gather_scatter_all_mask": (
        "patterns/gather_scatter_masks"
    ),
    "make_tensor_ptr make_tensor_ptr_structured": "patterns/block_ptr_complex_offset",
    "scalar_store": "tt_to_unstructured/scalars",
    "scf_for_ptr_in_iterargs": "tt_to_unstructured/control_flow",
    "test_offset_bitwidth": "tt_to_unstructured/offset_width",
    "call func post_structured_to_memref post_triton_load_store_to_memref structured_ptr triton_func": (
        "unstructured_to_memref/pointers"
    ),
    "collapse_shape": "linalg_transforms/collapse_shape",
}
"""Where the file is not called as triton-shared's; all others are `patterns/NAME`."""


def test_every_kernel_of_the_patterns_has_its_file() -> None:
    kernels = {case.kernel for case in corpus_oracle.cases() if case.file == "patterns"}
    files = {path.stem for path in (FILES / "patterns").glob("*.mlir")}
    assert kernels == {name for name in files if not name.startswith("kernel-")}


def test_every_named_file_is_a_test() -> None:
    for names, file in OTHER_NAMES.items():
        text = (FILES / f"{file}.mlir").read_text(encoding="utf-8")
        assert "// RUN: tilewright-opt" in text, names
