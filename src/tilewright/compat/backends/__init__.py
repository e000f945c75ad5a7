"""What programs import from Triton's `triton.backends`; tilewright's own back ends are in `targets/`."""
