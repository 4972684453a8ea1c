"""The watch service: gRPC on a port of its own. Imported only when `kraft.grpc.listener` is set."""

import os

# Before grpc is imported. What its core has to say goes past our log, in lines of its own that any stranger on the port
# can cause; what matters of it comes to us as errors.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
