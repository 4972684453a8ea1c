"""Minimal brokers, which only register and send heartbeats, so that topics can be created."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from records.errors import ApiError, Error
from records.features.levels import supported_features
from records.messages.brokers import BrokerHeartbeatRequest, BrokerRegistrationRequest
from records.wire import DecodeError
from simulations.chaos.quorum import CLUSTER_ID, NODES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulations.chaos.quorum import Quorum

IDS = (201, 202, 203)
INTERVAL_S = 0.5
# All features that are finalized by default: a broker that lacks one of them cannot register.
FEATURES = supported_features()


class Brokers:
    """A thread that sends the heartbeats as long as it finds a controller. epochs: of the registered brokers."""

    def __init__(self, quorum: Quorum) -> None:
        self.quorum = quorum
        self.epochs: dict[int, int] = {}
        self._active = NODES[0]
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="brokers", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ending.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ending.wait(INTERVAL_S):
            for broker_id in IDS:
                self._live(broker_id)

    def _live(self, broker_id: int) -> None:
        epoch = self.epochs.get(broker_id)
        request = registration(broker_id) if epoch is None else heartbeat(broker_id, epoch)
        try:
            answer = self.quorum.ask(self._active, request, 1.0)
        except (OSError, DecodeError, ApiError):
            self._look_elsewhere()
            return
        if answer.error_code == Error.NOT_CONTROLLER:
            self._look_elsewhere()
        elif answer.error_code in {Error.STALE_BROKER_EPOCH, Error.BROKER_ID_NOT_REGISTERED}:
            self.epochs.pop(broker_id, None)
        elif answer.error_code == Error.NONE and epoch is None:
            self.epochs[broker_id] = answer.broker_epoch

    def _look_elsewhere(self) -> None:
        self._active = self.quorum.leader() or NODES[(NODES.index(self._active) + 1) % len(NODES)]


def registration(broker_id: int, features: Mapping[str, tuple[int, int]] = FEATURES) -> BrokerRegistrationRequest:
    """The registration of a 4.3 broker. features: name -> least and greatest version."""
    wanted = BrokerRegistrationRequest
    listener = wanted.Listener(name="PLAINTEXT", host="127.0.0.1", port=9000 + broker_id % 1000, security_protocol=0)
    offered = tuple(
        wanted.Feature(name=name, min_supported_version=low, max_supported_version=high)
        for name, (low, high) in features.items()
    )
    return wanted(
        broker_id=broker_id,
        cluster_id=CLUSTER_ID,
        incarnation_id=broker_id.to_bytes(16, "big"),
        listeners=(listener,),
        features=offered,
        rack=None,
        log_dirs=((7 << 64 | broker_id).to_bytes(16, "big"),),
    )


def heartbeat(broker_id: int, epoch: int) -> Any:
    """A heartbeat that requests unfencing, and claims to have all metadata."""
    return BrokerHeartbeatRequest(
        broker_id=broker_id, broker_epoch=epoch, current_metadata_offset=1 << 50, want_fence=False, want_shut_down=False
    )
