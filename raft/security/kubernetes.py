"""Values in Secrets and ConfigMaps, by Strimzi's config providers `KubernetesSecretConfigProvider` and
`KubernetesConfigMapConfigProvider`.

They read the Kubernetes API with the service account of the pod, as Strimzi's own do, which use fabric8's client: the
names of variables and files are of that client. Only a configuration with such a provider imports this module.
"""

from __future__ import annotations

import binascii
import json
import re
import socket
import ssl
import time
from base64 import b64decode
from http.client import HTTPException, HTTPResponse
from io import BytesIO
from typing import NamedTuple

from records.java.config_error import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

HOST, PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"
TOKEN_PATH, CA_PATH = "KUBERNETES_AUTH_SERVICEACCOUNT_TOKEN", "KUBERNETES_CERTS_CA_FILE"
NAMESPACE = "KUBERNETES_NAMESPACE"
DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount"
DEFAULT_HOST = "kubernetes.default.svc"

# Kinds of resources, and how they are called in a URL.
RESOURCES = {"Secret": "secrets", "ConfigMap": "configmaps"}
# A Secret holds up to 1 MiB, which base64 makes a third larger.
ANSWER_BYTES_MAX = 4 << 20
FILE_BYTES_MAX = 1 << 20
# How long one attempt takes, and after which time no other begins: an API server that restarts is away for seconds.
ATTEMPT_S, LAST_ATTEMPT_S = 10.0, 20.0
FIRST_BACKOFF_S, BACKOFF_MAX_S = 0.1, 2.0

OK, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, TOO_MANY_REQUESTS, SERVER_ERROR = 200, 401, 403, 404, 429, 500

_NAME = "[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?"
_PATH = re.compile(f"(?:({_NAME})/)?({_NAME})")


class KubernetesProvider:
    """`${name:NAMESPACE/RESOURCE:KEY}`, or `${name:RESOURCE:KEY}` for the namespace of the pod."""

    def __init__(self, kind: str, environment: Mapping[str, str]) -> None:
        """kind: of RESOURCES."""
        self._kind = kind
        self._environment = environment

    def __call__(self, path: str, keys: frozenset[str]) -> dict[str, str]:
        """Raises ConfigError, which shows neither the token nor what was answered."""
        return self._values(path, keys)

    def all_of(self, path: str) -> dict[str, str]:
        """All keys of a resource. Raises as above."""
        return self._values(path, None)

    def _values(self, path: str, keys: frozenset[str] | None) -> dict[str, str]:
        match = _PATH.fullmatch(path)
        if match is None:
            raise ConfigError(
                f"Invalid path {path}. It has to be in format <namespace>/<{self._kind.lower()}> (or "
                f"<{self._kind.lower()}> for the namespace of the pod)."
            )
        namespace = match[1] or self._environment.get(NAMESPACE) or _read(f"{DIRECTORY}/namespace", NAMESPACE).strip()
        if not re.fullmatch(_NAME, namespace):
            raise ConfigError(f"the namespace of the pod is {namespace[:60]!r}, which is no name of a namespace")
        resource = _Resource(self._kind, match[2], namespace)
        data = resource.data_of(self._get(resource))
        return {key: resource.value_of(data, key) for key in (data if keys is None else keys) if key in data}

    def _get(self, resource: _Resource) -> bytes:
        last_s = time.monotonic() + LAST_ATTEMPT_S
        backoff_s = FIRST_BACKOFF_S
        while True:
            try:
                status, body = self._ask(resource, time.monotonic() + ATTEMPT_S)
            except ssl.SSLCertVerificationError as error:
                reason = f"its certificate is not trusted by {self._ca_path()}: {error.verify_message}"
                raise resource.failure(reason) from None
            except OSError as error:
                reason = f"{self._address()} cannot be reached: {error.strerror or error}"
            except (HTTPException, ValueError) as error:  # the text may hold what was answered
                reason = f"{self._address()} does not answer in HTTP: {type(error).__name__}"
            else:
                if status == OK:
                    return body
                reason = f"{self._address()} answers with HTTP status {status}"
                if status != TOO_MANY_REQUESTS and status < SERVER_ERROR:
                    raise resource.refusal(status, reason, self._token_path())
            if time.monotonic() + backoff_s > last_s:
                raise resource.failure(reason)
            time.sleep(backoff_s)
            backoff_s = min(2 * backoff_s, BACKOFF_MAX_S)

    def _ask(self, resource: _Resource, deadline_s: float) -> tuple[int, bytes]:
        """Status and body. Raises OSError, HTTPException, ValueError; ConfigError for a token or CA that is unreadable.

        Token and CA are read each time: Kubernetes replaces both while the pod runs.
        """
        token = _read(self._token_path(), TOKEN_PATH).strip()
        if not re.fullmatch("[!-~]+", token):
            raise ConfigError(f"{self._token_path()} holds no token of a service account")
        context = _context(self._ca_path())
        host, port = self._address()
        request = (
            f"GET {resource.url} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n"
            "Accept: application/json\r\nConnection: close\r\n\r\n"
        )
        body = bytearray()
        with (
            socket.create_connection((host, port), _rest(deadline_s)) as raw,
            context.wrap_socket(raw, server_hostname=host) as connection,
        ):
            connection.sendall(request.encode("ascii"))
            while part := connection.recv(1 << 16):
                body += part
                if len(body) > ANSWER_BYTES_MAX:
                    raise resource.failure(f"the answer has more than {ANSWER_BYTES_MAX} bytes")
                connection.settimeout(_rest(deadline_s))
        response = HTTPResponse(_Received(bytes(body)))  # type: ignore[arg-type]
        response.begin()
        return response.status, response.read()

    def _address(self) -> _Address:
        host, port = self._environment.get(HOST), self._environment.get(PORT)
        if not host or not port:
            return _Address(DEFAULT_HOST, 443)
        if not (port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16):
            raise ConfigError(f"the variable {PORT} is {port!r}, which is no port")
        return _Address(host, int(port))

    def _token_path(self) -> str:
        return self._environment.get(TOKEN_PATH) or f"{DIRECTORY}/token"

    def _ca_path(self) -> str:
        return self._environment.get(CA_PATH) or f"{DIRECTORY}/ca.crt"


class _Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"the Kubernetes API at {self.host}:{self.port}"


class _Resource(NamedTuple):
    kind: str
    name: str
    namespace: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name} in namespace {self.namespace}"

    @property
    def url(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/{RESOURCES[self.kind]}/{self.name}"

    def failure(self, reason: str) -> ConfigError:
        return ConfigError(f"Failed to retrieve {self}: {reason}")

    def refusal(self, status: int, reason: str, token_path: str) -> ConfigError:
        """Why there is no such resource for this pod, and what to do."""
        if status == NOT_FOUND:
            return ConfigError(f"{self} not found")
        if status == FORBIDDEN:
            needs = f"its Role needs the verb get for {self.name} among the {RESOURCES[self.kind]} of this namespace"
            return self.failure(f"the service account of this pod may not read it (HTTP status 403): {needs}")
        if status == UNAUTHORIZED:
            return self.failure(f"{reason}: it does not accept the token in {token_path}")
        return self.failure(reason)

    def data_of(self, body: bytes) -> dict[str, str]:
        """What the resource holds; nothing of it is in an error."""
        try:
            data = json.loads(body).get("data") or {}
            if isinstance(data, dict) and all(isinstance(value, str) for value in data.values()):
                return data
        except (ValueError, AttributeError, RecursionError):
            pass
        raise self.failure(f"the answer is no {self.kind}")

    def value_of(self, data: Mapping[str, str], key: str) -> str:
        if self.kind != "Secret":
            return data[key]
        try:
            return b64decode(data[key], validate=True).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            raise self.failure(f"its key {key} is not base64") from None


class _Received:
    """Bytes that were received, in the form in which http.client takes a socket."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> BytesIO:
        return BytesIO(self._data)


def _rest(deadline_s: float) -> float:
    """Raises TimeoutError when none is left."""
    rest_s = deadline_s - time.monotonic()
    if rest_s <= 0:
        raise TimeoutError("timed out")
    return rest_s


def _context(path: str) -> ssl.SSLContext:
    text = _read(path, CA_PATH)
    # Not create_default_context: it refuses, since Python 3.13, authorities that many clusters have.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(cadata=text.encode("ascii", "replace").decode())
    except (ssl.SSLError, ValueError):
        raise ConfigError(f"{path} holds no certificates of the Kubernetes API") from None
    return context


def _read(path: str, variable: str) -> str:
    """A file of the service account. Raises ConfigError."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as in the other providers
            data = file.read(FILE_BYTES_MAX + 1)
        if len(data) > FILE_BYTES_MAX:
            raise ConfigError(f"{path} has more than {FILE_BYTES_MAX} bytes")
        return data.decode("latin-1")
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ConfigError(
            f"{path} cannot be read: {reason}. The Kubernetes API is asked only as the service account of a pod; mount "
            f"its token (automountServiceAccountToken), or set {variable}"
        ) from None
