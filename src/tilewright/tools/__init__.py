"""Programs around the compiler: `tilewright-opt` and the subcommands of `tilewright`."""
