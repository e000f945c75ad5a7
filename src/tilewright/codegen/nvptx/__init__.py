"""NVIDIA GPUs: what the lowering asks of the hardware, and the way from LLVM IR text to PTX and machine code.

| module | what |
|---|---|
| `facts` | `NvptxFacts`: compute capability, PTX version, limits |
| `emitter` | `NvptxEmitter`: one method per hardware instruction |
| `threads`, `memory`, `atomics`, `matrix`, `hopper` | its methods, by subject |
| `target_machine` | LLVM's NVPTX target: optimise, emit PTX |
| `libdevice` | NVIDIA's math library in bitcode, where one is installed |
| `occupancy` | CTAs that a multiprocessor runs at once |
| `ptxas` | NVIDIA's assembler: find it, run it, read the resources that it reports |
"""
