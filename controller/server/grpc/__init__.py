"""The watch service: gRPC on a port of its own. Imported only when `kraft.grpc.listener` is set."""
