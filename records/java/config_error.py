"""The error of a wrong configuration, as Kafka's ConfigException."""

from __future__ import annotations

CONFIG_EXCEPTION = "org.apache.kafka.common.config.ConfigException"


class ConfigError(Exception):
    """A configuration is wrong. text: one line, as stock says it; exception: the Java class that stock throws."""

    def __init__(self, text: str, exception: str = CONFIG_EXCEPTION) -> None:
        super().__init__(text)
        self.text = text
        self.exception = exception

    def __str__(self) -> str:
        return self.text
