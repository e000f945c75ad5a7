"""`tilewright explore`: a kernel on its way through the stages, in the terminal or as a page to look at.

| module | what |
|---|---|
| `parser`, `command` | the command line, and what it does |
| `sources` | which kernel, which types, which target |
| `recording` | compiles a kernel and keeps its text after every pass, each line with its source lines |
| `drawing` | pictures of the layouts of a recording |
| `terminal` | a recording as text: a table of passes, one stage, one pass, one source line |
| `page`, `page.html` | a recording as one HTML file that needs nothing else |
| `notebook` | that page below a cell: `%%tilewright` |
"""
