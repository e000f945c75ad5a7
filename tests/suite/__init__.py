"""How the suite is run: its cache folder, what is collected and sampled, how progress is told."""
