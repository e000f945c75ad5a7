"""What programs written for triton-shared's CPU back end import."""
