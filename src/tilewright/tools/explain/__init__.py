"""`tilewright explain`: the compiler's remarks as advice in the margin of a kernel's source.

| module | what |
|---|---|
| `parser`, `command` | the command line, and what it does |
| `advice` | what each kind of remark means for the author of a kernel, and what to change |
| `report` | compiles a kernel and places its remarks on source lines |
| `machine` | what its machine code says: registers, spills |
| `margin` | a report as text; as JSON |
"""
