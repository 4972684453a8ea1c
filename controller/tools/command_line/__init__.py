"""What the tools share: arguments and help as argparse4j and jopt-simple print them, streams and exit codes."""
