"""Loads through pointers as blocks of a tensor: where they begin, how far the tensor reaches, who looks at its edge."""
