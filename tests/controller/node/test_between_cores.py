from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from controller.node.between_cores import TO_CONTROLLER, TO_RAFT

PASSED_ON = [*TO_CONTROLLER.items(), *TO_RAFT.items()]


@pytest.mark.parametrize(("kind", "make"), PASSED_ON, ids=[kind.__name__ for kind, _ in PASSED_ON])
def test_an_input_has_all_that_its_effect_says(kind: Any, make: Any) -> None:
    said = {field.name: number for number, field in enumerate(fields(kind))}

    made = make(kind(**said))

    assert {field.name: getattr(made, field.name) for field in fields(made)} == said
