"""The HTTP port: probes, metrics, the node's view, a status page. Imported only if `kraft.http.listener` is set."""
