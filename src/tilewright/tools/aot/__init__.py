"""Ahead-of-time compilation: kernels for programs without Python (`tilewright compile`).

| module | what |
|---|---|
| `signature` | what a kernel is compiled for, read from text: `*fp32:16, i32, 1024` |
| `grid` | the extents of the grid, read from text: `cdiv(n, BLOCK), m / 32` |
| `variants` | compiles each signature of a kernel |
| `passing` | what C functions take for a parameter, and the launch slots that they make of it |
| `c_text` | the C that both targets share: prototypes, and the choice of a variant by the values of arguments |
| `cpu`, `cuda` | the files for each target |
| `triton_files`, `linking` | the files of `triton.tools.compile` and `triton.tools.link` |
| `parser`, `command` | the command line, and what it does |
"""
