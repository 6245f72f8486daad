"""The command line: reads arguments, calls the rooms below, writes results to stdout and everything else to stderr."""
