"""`python -m tests.oracle.wire.documentation`: write the documentation of configuration keys as stock has it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from controller.config.documentation import documentation_file
from tests.interop.stock import Stock

PROGRAM = Path(__file__).with_name("Documentation.java")
ORIGIN = """\
# The documentation of configuration keys that DescribeConfigs returns: texts of Apache Kafka 4.4.0 (KafkaConfig,
# LogConfig, GroupConfig and ClientMetricsConfigs of its released jars). Copyright The Apache Software Foundation,
# licensed under the Apache License, Version 2.0, as this project is; see LICENSE.
# Do not edit: python -m tests.oracle.wire.documentation writes this file.
# Columns: the sort of resource, the key, the text, in which \\n, \\t, \\r and \\\\ stand for what they are in Java.
"""


def documentation() -> str:
    """The expected content of the file."""
    stock = Stock("4.4.0")
    stock.bring()
    command = ["java", "-cp", f"{stock.jars}/*", str(PROGRAM)]
    return ORIGIN + subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    documentation_file().write_text(documentation())
