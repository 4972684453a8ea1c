"""The watch service: gRPC on a port of its own. Imported only when `kraft.grpc.listener` is set."""

import os

# Set before grpc is imported. grpc's core writes log lines to stderr that any client can cause, and that bypass the
# node's log; errors that matter are also raised as exceptions.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
