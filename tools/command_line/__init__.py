"""Code shared by the tools: arguments and help as argparse4j and jopt-simple print them, streams and exit codes."""
