"""`tilewright explore`: a kernel on its way through the stages, in the terminal or as a page to look at.

| module | what |
|---|---|
| `parser`, `command` | the command line, and what it does |
| `sources` | which kernel, which types, which target |
| `recording` | compiles a kernel and keeps its text after every pass, each line with its source lines |
| `machine_text` | the same for LLVM IR, assembly and PTX, from their debug locations |
| `overview`, `roofline`, `banks` | registers, spills, occupancy; what the machine can do at most; bank conflicts |
| `drawing` | pictures of the layouts of a recording |
| `terminal` | a recording as text: a table of passes, one stage, one pass, one source line |
| `page`, `web/` | recordings as one HTML file that needs nothing else: its data, its styles and scripts |
| `watching`, `serving` | a file compiled again whenever it is saved; the page on an address of this machine |
| `notebook` | that page below a cell: `%%tilewright` |
"""
