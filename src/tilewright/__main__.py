"""`python -m tilewright` is the `tilewright` command."""

import sys

from tilewright.tools.cli import main

if __name__ == "__main__":
    sys.exit(main())
