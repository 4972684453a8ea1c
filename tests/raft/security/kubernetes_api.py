"""A server on loopback that answers GETs of Secrets and ConfigMaps as the Kubernetes API does: over TLS, to service
accounts with a token, each of which may read some resources.
"""

from __future__ import annotations

import json
import threading
from base64 import b64encode
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

from tests.raft.network.certificates import authority, certificate, server_context

if TYPE_CHECKING:
    from pathlib import Path

REASONS = {401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 429: "TooManyRequests", 500: "InternalError"}
CA = "kubernetes-ca"


class KubernetesApi:
    """A context manager. directory: gets token, ca.crt and namespace, as they are mounted in a pod.

    token: the one that is accepted. readable: URLs that its account may get, None for all. failures: statuses with
    which the next requests are answered. requests: URL and token of each request.
    """

    def __init__(self, directory: Path, token: str = "first-token") -> None:
        self.directory = directory
        self.token = token
        self.readable: set[str] | None = None
        self.failures: deque[int] = deque()
        self.requests: list[tuple[str, str]] = []
        self.bodies: dict[str, bytes] = {}
        (directory / "token").write_text(token + "\n")
        (directory / "ca.crt").write_text((authority(CA) / "ca.pem").read_text())
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                token = self.headers.get("Authorization", "").removeprefix("Bearer ")
                api.requests.append((self.path, token))
                status, body = api.answer(self.path, token)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                # As the API does with answers that it does not hold whole.
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for part in (body[:100], body[100:]):
                    if part:
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                self.wfile.write(b"0\r\n\r\n")

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        context = server_context(certificate("/CN=kube-apiserver", ca=CA))
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def secret(self, path: str, **data: bytes) -> None:
        """Set a Secret. path: namespace/name; a key's underscores stand for dots."""
        values = {key.replace("_", "."): b64encode(value).decode() for key, value in data.items()}
        self._set(path, "Secret", "secrets", values)

    def config_map(self, path: str, **data: str) -> None:
        self._set(path, "ConfigMap", "configmaps", {key.replace("_", "."): value for key, value in data.items()})

    def _set(self, path: str, kind: str, resource: str, data: dict[str, str]) -> None:
        namespace, name = path.split("/")
        found = {"kind": kind, "apiVersion": "v1", "metadata": {"name": name, "namespace": namespace}, "data": data}
        self.bodies[f"/api/v1/namespaces/{namespace}/{resource}/{name}"] = json.dumps(found).encode()

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a pod; the last two name files that a pod has at fixed paths."""
        return {
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": str(self._server.server_port),
            "KUBERNETES_NAMESPACE": "kafka",
            "KUBERNETES_AUTH_SERVICEACCOUNT_TOKEN": str(self.directory / "token"),
            "KUBERNETES_CERTS_CA_FILE": str(self.directory / "ca.crt"),
        }

    def answer(self, url: str, token: str) -> tuple[int, bytes]:
        status = 200
        if self.failures:
            status = self.failures.popleft()
        elif token != self.token:
            status = 401
        elif self.readable is not None and url not in self.readable:
            status = 403  # also for what does not exist, as in Kubernetes
        elif url not in self.bodies:
            status = 404
        if status == 200:
            return status, self.bodies[url]
        text = {"kind": "Status", "status": "Failure", "reason": REASONS.get(status, ""), "code": status}
        return status, json.dumps(text).encode()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
