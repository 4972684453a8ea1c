"""Effects of one core that are nothing but inputs of the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.interface import effects as controller_effects
from controller.interface import inputs
from raft.interface import effects as raft_effects
from raft.interface import inputs as raft_inputs

if TYPE_CHECKING:
    from collections.abc import Callable

# Class of an effect of raft -> its input of the controller.
TO_CONTROLLER: dict[type, Callable[[Any], inputs.Input]] = {
    raft_effects.LeadershipConfirmed: lambda effect: inputs.LeadershipConfirmed(effect.number, effect.epoch),
    raft_effects.ReserveOffsets: lambda effect: inputs.ReserveOffsets(effect.epoch, effect.count),
    raft_effects.KraftVersionSupport: lambda effect: inputs.KraftVersionSupport(effect.epoch, effect.level),
}

# Class of an effect of the controller -> its input of raft.
TO_RAFT: dict[type, Callable[[Any], raft_inputs.Input]] = {
    controller_effects.Append: lambda effect: raft_inputs.Propose(
        effect.epoch, effect.base_offset, effect.last_offset, effect.data
    ),
    controller_effects.OffsetsReserved: lambda effect: raft_inputs.OffsetsReserved(effect.epoch, effect.base_offset),
    controller_effects.UpgradeKraftVersion: lambda effect: raft_inputs.UpgradeKraftVersion(
        effect.epoch, effect.base_offset, effect.level
    ),
    controller_effects.ConfirmLeadership: lambda effect: raft_inputs.ConfirmLeadership(effect.number),
}
