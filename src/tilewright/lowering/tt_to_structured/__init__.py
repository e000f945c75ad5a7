"""From tensors of pointers to structured pointers."""
