"""Values that stand elsewhere: `${provider:path:key}` in any property, by Kafka's own config providers (KIP-297,
KIP-421, KIP-632, KIP-887), and by Strimzi's for Kubernetes.
"""

from __future__ import annotations

import os
import re

from records.java.config_error import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Found = dict[str, str]
    Provider = Callable[[str, frozenset[str]], Found]

KEY = "config.providers"
# The system property that says which classes may be used; None: all of them.
ALLOWED_CLASSES = "org.apache.kafka.automatic.config.providers"
_PACKAGE = "org.apache.kafka.common.config.provider."
# Strimzi's providers, and the kind of resource that each reads.
_KUBERNETES = {
    "io.strimzi.kafka.KubernetesSecretConfigProvider": "Secret",
    "io.strimzi.kafka.KubernetesConfigMapConfigProvider": "ConfigMap",
}
_VARIABLE = re.compile(r"\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}")
_FILE_BYTES_MAX = 4 << 20


def resolve(
    given: Mapping[str, str],
    environment: Mapping[str, str],
    allowed_classes: str | None,
    warnings: list[str],
    *,
    may_wait: bool = True,
) -> dict[str, str]:
    """The properties, with what the providers have in the place of each variable.

    What a provider does not have stays as it is written, as in stock; warnings gets a line for it. may_wait: whether
    the Kubernetes API may be asked; else its variables stay as they are written. Raises ConfigError, which shows no
    value that was looked up.
    """
    providers = _providers(given, environment, allowed_classes, warnings, may_wait=may_wait)
    wanted: dict[tuple[str, str], set[str]] = {}
    for value in given.values():
        for match in _VARIABLE.finditer(value):
            if match[1] in providers:
                wanted.setdefault((match[1], match[3] or ""), set()).add(match[4])
    answers = {(name, path): providers[name](path, frozenset(keys)) for (name, path), keys in sorted(wanted.items())}
    result = {}
    for key, value in given.items():

        def text(match: re.Match[str], key: str = key) -> str:
            if match[1] not in providers:
                return match[0]
            looked_up = answers[match[1], match[3] or ""].get(match[4])
            if looked_up is None:
                warnings.append(f"{key}: {match[0]} was not found and stays as it is written")
                return match[0]
            return looked_up

        result[key] = _VARIABLE.sub(text, value)
    return result


def _providers(
    given: Mapping[str, str],
    environment: Mapping[str, str],
    allowed_classes: str | None,
    warnings: list[str],
    *,
    may_wait: bool,
) -> dict[str, Provider]:
    providers: dict[str, Provider] = {}
    allowed = None if allowed_classes is None else {name.strip() for name in allowed_classes.split(",")}
    for name in given.get(KEY, "").split(","):
        if not name:
            continue
        class_name = given.get(f"{KEY}.{name}.class")
        if class_name is None:
            warnings.append(f"{KEY} has {name!r} without {KEY}.{name}.class; its variables stay as they are written")
            continue
        if allowed is not None and class_name not in allowed:
            raise ConfigError(
                f"{class_name} is not allowed. Update System property '{ALLOWED_CLASSES}' to allow {class_name}"
            )
        prefix = f"{KEY}.{name}.param."
        parameters = {key[len(prefix) :]: value for key, value in given.items() if key.startswith(prefix)}
        if class_name == _PACKAGE + "FileConfigProvider":
            providers[name] = _Files(parameters, f"{prefix}allowed.paths", warnings)
        elif class_name == _PACKAGE + "DirectoryConfigProvider":
            providers[name] = _Directories(parameters, f"{prefix}allowed.paths", warnings)
        elif class_name == _PACKAGE + "EnvVarConfigProvider":
            providers[name] = _Environment(parameters, f"{prefix}allowlist.pattern", environment)
        elif class_name in _KUBERNETES:
            if may_wait:
                from raft.security.kubernetes import KubernetesProvider  # imports TLS and HTTP

                providers[name] = KubernetesProvider(_KUBERNETES[class_name], environment)
        else:
            raise ConfigError(
                f"{KEY}.{name}.class={class_name} names a Java class, which this node cannot run; it has "
                f"FileConfigProvider, DirectoryConfigProvider and EnvVarConfigProvider of {_PACKAGE[:-1]}, and "
                + " and ".join(_KUBERNETES)
            )
    return providers


class _Paths:
    """A provider that may be bound to some paths."""

    def __init__(self, parameters: Mapping[str, str], key: str, warnings: list[str]) -> None:
        self._warnings = warnings
        self._key = key
        self._allowed: list[str] | None = None
        text = parameters.get("allowed.paths")
        if text:
            self._allowed = []
            for path in text.split(","):
                normal = os.path.normpath(path)
                if not os.path.isabs(normal):  # noqa: PTH117 - pathlib would cost a tool a good part of its start
                    raise ConfigError(f"{key}: Path {normal} is not absolute")
                if not os.path.exists(normal):  # noqa: PTH110
                    raise ConfigError(f"{key}: Path {normal} does not exist")
                self._allowed.append(normal)

    def _check(self, path: str) -> str | None:
        if self._allowed is None:
            return path
        normal = os.path.normpath(path)
        if any(normal == one or normal.startswith(one.rstrip("/") + "/") for one in self._allowed):
            return normal
        self._warnings.append(f"the path {path} is not among {self._key}, and is not read")
        return None


class _Files(_Paths):
    """Properties files: `${file:/path:key}`."""

    def __call__(self, path: str, keys: frozenset[str]) -> Found:
        from records.java.properties import PropertiesError, parse_properties_text

        checked = self._check(path) if path else None
        if checked is None:
            return {}
        try:
            properties = parse_properties_text(_read(checked).decode())
        except (OSError, ValueError, PropertiesError) as error:
            raise ConfigError(f"Could not read properties from file {path}: {_reason(error)}") from None
        return {key: value for key, value in properties.items() if key in keys}


class _Directories(_Paths):
    """Directories with one file for each key: `${dir:/path:key}`."""

    def __call__(self, path: str, keys: frozenset[str]) -> Found:
        checked = self._check(path) if path else None
        if checked is None:
            return {}
        if not os.path.isdir(checked):  # noqa: PTH112
            self._warnings.append(f"the path {path} is not a directory")
            return {}
        contents = {}
        for key in sorted(keys):
            if not key or "/" in key or key in {".", ".."}:
                continue
            file = f"{checked}/{key}"
            if os.path.isfile(file):  # noqa: PTH113
                try:
                    contents[key] = _read(file).decode()
                except (OSError, ValueError) as error:
                    raise ConfigError(f"Could not read file {file} for property {key}: {_reason(error)}") from None
        return contents


class _Environment:
    """Environment variables: `${env:NAME}`."""

    def __init__(self, parameters: Mapping[str, str], key: str, environment: Mapping[str, str]) -> None:
        self._environment = environment
        try:
            self._pattern = re.compile(parameters.get("allowlist.pattern", ".*"), re.DOTALL)
        except re.error as error:
            raise ConfigError(f"{key} is no regular expression: {error}") from None

    def __call__(self, path: str, keys: frozenset[str]) -> Found:
        if path:
            raise ConfigError(f"Path is not supported for EnvVarConfigProvider, invalid value '{path}'")
        return {
            name: value
            for name, value in self._environment.items()
            if name in keys and self._pattern.fullmatch(name) is not None
        }


def _read(path: str) -> bytes:
    """Raises OSError, ValueError."""
    with open(path, "rb") as file:  # noqa: PTH123
        data = file.read(_FILE_BYTES_MAX + 1)
    if len(data) > _FILE_BYTES_MAX:
        raise ValueError(f"it has more than {_FILE_BYTES_MAX} bytes")
    return data


def _reason(error: Exception) -> str:
    """Without what is in the file."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
