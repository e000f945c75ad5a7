"""NVIDIA GPUs: what the lowering asks of the hardware, and the way from LLVM IR text to PTX and machine code.

| module | what |
|---|---|
| `facts` | `NvptxFacts`: compute capability, PTX version, limits |
| `leaf` | `NvptxEmitter`, the leaf emitter: one method per hardware instruction, from the `leaf_*` modules |
| `target_machine` | LLVM's NVPTX target: optimise, emit PTX |
| `libdevice` | NVIDIA's math library in bitcode, where one is installed |
| `occupancy` | CTAs that a multiprocessor runs at once |
| `ptxas` | NVIDIA's assembler: find it, run it, read the resources that it reports |
"""
