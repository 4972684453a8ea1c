"""A provider of tokens and keys on loopback, for tests: HTTP or HTTPS."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import ssl


class Provider:
    """A context manager. status, answer: of each request; requests: method, path, headers and body of each."""

    def __init__(self, answer: bytes = b"", status: int = 200, context: ssl.SSLContext | None = None) -> None:
        self.answer, self.status = answer, status
        self.headers: dict[str, str] = {}
        self.requests: list[tuple[str, str, Any, bytes]] = []
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                provider.requests.append((self.command, self.path, self.headers, body))
                self.send_response(provider.status)
                for name, value in provider.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(provider.answer)))
                self.end_headers()
                self.wfile.write(provider.answer)

            do_POST = do_GET  # noqa: N815 - the name that the library calls

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        scheme = "http" if context is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_port}/path"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
