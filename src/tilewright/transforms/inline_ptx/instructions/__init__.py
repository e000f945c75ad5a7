"""What instructions mean lane by lane, a file for each family: importing it registers the rules."""
