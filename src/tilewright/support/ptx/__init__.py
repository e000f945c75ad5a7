"""PTX as text and as data: read by the simulated GPU, and by what makes other code of inline assembly."""
