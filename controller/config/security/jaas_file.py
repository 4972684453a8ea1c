"""The JAAS file of a node: what Java reads from `java.security.auth.login.config`, in the form of its `ConfigFile`."""

from __future__ import annotations

import os
import re

from raft.security.jaas import FLAGS, Module, tokens_of
from records.java.config_error import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.config.values.node_values import NodeValues
    from raft.security.jaas import Token

    Sections = dict[str, list[Module]]

KEY = "kraft.jaas.config.path"
PROPERTY = "java.security.auth.login.config"
_FILE_BYTES_MAX = 4 << 20
_PROPERTY = re.compile(r"\$\{([^}]*)\}")


def jaas_file(config: NodeValues) -> str | None:
    """The path of the file: `kraft.jaas.config.path`, or the property of `KAFKA_OPTS`; None without one."""
    path = config.text(KEY) or config.system_properties.get(PROPERTY)
    # A second `=` tells Java to read no other file; a node reads no other anyway.
    return None if not path else path.removeprefix("=").removeprefix("file://").removeprefix("file:")


def jaas_sections(path: str, properties: Mapping[str, str]) -> Sections:
    """The login modules by the name of their section. properties: for `${name}` in options. Raises ConfigError, which
    shows no option.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib would cost a tool a good part of its start
            data = file.read(_FILE_BYTES_MAX + 1)
        text = data.decode()
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "it is not UTF-8"
        raise ConfigError(f"the JAAS file {path} cannot be read: {reason}") from None
    if len(data) > _FILE_BYTES_MAX:
        raise ConfigError(f"the JAAS file {path} has more than {_FILE_BYTES_MAX} bytes")
    return _Parser(text, path, properties).sections()


class _Parser:
    def __init__(self, text: str, path: str, properties: Mapping[str, str]) -> None:
        self._tokens = tokens_of(text)
        self._at = 0
        self._path = path
        self._properties = {
            "/": "/",
            "user.dir": os.getcwd(),  # noqa: PTH109
            "user.home": os.path.expanduser("~"),  # noqa: PTH111
            "java.io.tmpdir": "/tmp",  # noqa: S108 - Java's own default
            **properties,
        }

    def sections(self) -> Sections:
        parsed: Sections = {}
        while self._at < len(self._tokens):
            name = self._word("the name of a section")
            self._expect("{")
            modules = []
            while not self._is_next("}"):
                modules.append(self._module())
            self._expect("}")
            self._expect(";")
            if name in parsed:
                raise ConfigError(f"the JAAS file {self._path} has section {name} twice")
            parsed[name] = modules
        return parsed

    def _module(self) -> Module:
        name = self._word("the name of a login module")
        flag = self._word("a control flag")
        if flag.upper() not in FLAGS:
            raise self._error(f"one of {', '.join(FLAGS)}")
        options: dict[str, str] = {}
        while not self._is_next(";"):
            option = self._word("the name of an option")
            self._expect("=")
            value = self._word(f"a value for option {len(options) + 1} of {name}, in double quotes")
            options[self._expand(option)] = self._expand(value)
        self._expect(";")
        return Module(name, options)

    def _expand(self, text: str) -> str:
        def value(match: re.Match[str]) -> str:
            if match[1] not in self._properties:
                raise ConfigError(f"the JAAS file {self._path} names system property {match[1]}, which is not set")
            return self._properties[match[1]]

        return _PROPERTY.sub(value, text)

    def _is_next(self, kind: str) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at].kind == kind

    def _take(self, kind: str, what: str) -> Token:
        if not self._is_next(kind):
            raise self._error(what)
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, kind: str) -> None:
        self._take(kind, repr(kind))

    def _word(self, what: str) -> str:
        return self._take("word", what).text or ""

    def _error(self, what: str) -> ConfigError:
        """What stands there instead may be a part of a password."""
        if self._at >= len(self._tokens):
            return ConfigError(f"the JAAS file {self._path} ends where {what} should come")
        line = self._tokens[self._at].line
        return ConfigError(f"the JAAS file {self._path} has in line {line} something else where {what} should come")
