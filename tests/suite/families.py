"""Families of like cases, of which continuous integration runs a share a day (`sampling.choose_of_day`).

A file is listed if its functions have many cases that take seconds together and look for the same defects. Files that
were written when a kernel had given a wrong result are not: their cases run on every day.
"""

from __future__ import annotations

FAMILIES = tuple(
    f"tests/{folder}/test_{name}.py"
    for folder, names in {
        "exec": (
            "atomics baseline_cpus baseline_pipeline batches_by_tma byte_products conversions device_library "
            "dot_types engines examples flattened float8 gluon gluon_on_cpu gluon_programs gpu_engines gpu_passes "
            "hopper int_to_float joined_loops library_kernels llm_example masked_updates mathematics "
            "missing_barriers model_kernels narrow_operands noinline partitions_on_cpu register_operands scaled_dots "
            "spine transposed_blocks triton_backend waiting widened_operands"
        ),
        "kernels": "against_triton gpu_settings ptx_against_triton ttgir_against_triton",
        "oracle_mlir": "memory views",
        "property": "faults generated_kernels lowering_faults pass_runs pipeline_barriers pipelined_loops ttg_faults",
        "unit/analysis": "random_kernels",
        "unit/codegen": "few_rows math_library microkernel_forms microkernels word_products",
        "unit/compiler": "internal_errors",
        "unit/inline_ptx": "inline_ptx",
        "unit/linalg_to_loops": (
            "choices few_rows jammed_rows lane_combinations memory_traffic merged_reductions networks products "
            "promoted_tiles rows_of_stores stored_results strided_lanes strip_segments transposed_operands"
        ),
        "unit/loops_to_llvm": "arithmetic memory",
        "unit/middle_layer": "byte_products corpus mutations",
        "unit/reference": "kernels",
        "unit/tools": "explain explore_launches explore_machine",
        "unit/ttg_to_llvm": "buffers conversions dots reductions",
    }.items()
    for name in names.split()
)

PROGRAMS = (
    "tests/exec/test_gradient_roles.py",
    "tests/exec/test_host_programs.py",
    "tests/exec/test_overlapped_products.py",
    "tests/exec/test_persistent_programs.py",
    "tests/exec/test_results_in_parts.py",
    "tests/exec/test_specialized_warps.py",
    "tests/exec/test_torch_compile.py",
    "tests/faults/test_faults.py",
    "tests/unit/compiler/test_large_kernels.py",
    "tests/unit/packaging/test_distributions.py",
    "tests/unit/runtime/test_children.py",
    "tests/unit/suite/test_benchmarks.py",
    "tests/unit/suite/test_gpu_suite.py",
    "tests/unit/suite/test_running.py",
    "tests/unit/tools/test_progress.py",
    "tests/unit/tools_correctness/test_reduce_and_bisect.py",
)
"""Files whose functions are the cases, seconds each: programs in processes of their own, pipelines on simulated Hopper,
growth of compile times."""
