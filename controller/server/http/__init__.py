"""The HTTP port: probes, metrics, this node's own view, and a page. Imported only when `kraft.http.listener` is set."""
