"""Model brokers: they register, send heartbeats, read the metadata log as observers, and lead partitions.

What a broker does for Kafka clients is not modelled; its requests to the controller are, from its own view of the log,
which lags, and with its own broker epoch, which may be stale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.messages.brokers import BrokerHeartbeatRequest, BrokerRegistrationRequest
from simulations.cluster.clients.broker_directories import Directories
from simulations.cluster.clients.broker_leading import Leading
from simulations.cluster.clients.broker_log import LogReader
from simulations.cluster.metadata.image import Image
from simulations.cluster.metadata.member_rules import CORDONED_SINCE, METADATA_VERSION
from simulations.nodes.client import BACKOFF_MS, Client, is_elsewhere
from simulations.world.releases import NEWEST, levels_of
from simulations.world.world import MS

if TYPE_CHECKING:
    from records.messages.brokers import BrokerHeartbeatResponse
    from simulations.cluster.clients.interfaces import Surroundings
    from simulations.histories.operations import Operation

FIRST_ID = 101
REQUEST_TIMEOUT_MS = 1500
# After an answer that its registration is stale.
RESTART_MS = 100


class BrokerProcess:
    """One process of a broker. image: the metadata as far as it has read; epoch: of its registration, -1 before.

    wants_out: it requests controlled shutdown. is_over: it has ended.
    """

    def __init__(self, machine: BrokerMachine, life: int) -> None:
        self.machine = machine
        self.run = machine.run
        self.world = machine.run.world
        self.id = machine.id
        self.life = life
        self.rng = self.run.stream("broker", self.id, life)
        self.incarnation = self.rng.randbytes(16)
        self.epoch = -1
        self._previous_epoch = machine.clean_epoch
        self.wants_out = False
        self.is_over = False
        self.image = Image()
        self.log = LogReader(self)
        # A broker has a channel for each sort of request, as Kafka's has.
        servers = self.run.plan.voter_ids
        self.control, self.fetching, self.leading = (
            Client(self.world, self.run.network, self.rng, self.id, servers) for _ in range(3)
        )
        self.directories = Directories(self)
        self.clients = [self.control, self.fetching, self.leading, *self.directories.clients]
        self._echo: Client | None = None
        if self.run.plan.echoes:
            self._echo_rng = self.run.stream("echo", self.id, life)
            self._echo = Client(self.world, self.run.network, self._echo_rng, self.id, servers)
            self.clients.append(self._echo)
        for client in self.clients:
            client.release = machine.release

    def start(self) -> None:
        self._register()
        self.log.fetch()
        self.later(self.run.plan.lead_every_ms, Leading(self).act)
        self.directories.start()

    def end(self) -> None:
        """The process ends, whatever its state."""
        self.is_over = True
        for client in self.clients:
            client.die()

    def pause(self, *, is_paused: bool) -> None:
        """SIGSTOP, and SIGCONT."""
        for client in self.clients:
            if is_paused:
                client.is_paused = True
            else:
                client.resume()

    # Registration and heartbeats

    def _register(self) -> None:
        request = self._registration()
        operation = self.run.recorder.ask(f"broker-{self.id}", ("register", self.id, self.incarnation))
        self.control.ask(request, lambda response: self._on_registered(operation, response), REQUEST_TIMEOUT_MS)

    def _registration(self) -> BrokerRegistrationRequest:
        listener, feature = BrokerRegistrationRequest.Listener, BrokerRegistrationRequest.Feature
        return BrokerRegistrationRequest(
            broker_id=self.id,
            cluster_id=self.run.cluster_id,
            incarnation_id=self.incarnation,
            listeners=(listener(name="PLAINTEXT", host=f"broker-{self.id}", port=9092, security_protocol=0),),
            features=tuple(
                feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in levels_of(self.machine.release).items()
            ),
            rack=self.machine.rack,
            log_dirs=tuple(self.directories.online),
            previous_broker_epoch=self._previous_epoch,
        )

    def _on_registered(self, operation: Operation, response: Any) -> None:
        if response is None or is_elsewhere(response.error_code):
            self.control.look_elsewhere()
            self.later(BACKOFF_MS, self._register)
        elif response.error_code == Error.UNSUPPORTED_VERSION:  # a feature went up while it was away
            self.run.recorder.answer(operation, "refused")
            self.machine.release = NEWEST
            self.machine.begin_anew(self)
        elif response.error_code != Error.NONE:
            self.run.recorder.answer(operation, "refused")
            self.later(3 * BACKOFF_MS, self._register)
        else:
            self.run.recorder.answer(operation, response.broker_epoch)
            self.epoch = response.broker_epoch
            self._heartbeat()

    def _heartbeat(self) -> None:
        knows_cordons = self.image.features.get(METADATA_VERSION, 0) >= CORDONED_SINCE
        request = BrokerHeartbeatRequest(
            broker_id=self.id,
            broker_epoch=self.epoch,
            current_metadata_offset=self.image.end_offset - 1,
            want_fence=False,
            want_shut_down=self.wants_out,
            offline_log_dirs=tuple(self.directories.failed),
            cordoned_log_dirs=self.machine.cordoned if knows_cordons else None,
        )
        self.control.ask(request, self._on_heartbeat_answer, self.run.plan.heartbeat_ms)
        if self._echo is not None and self._echo_rng.random() < self.run.plan.echoes:
            # A broker registers once more, too, when its registration does not show what it should.
            if self._echo_rng.random() < 0.8:
                self._echo.ask(request, lambda _response: None, self.run.plan.heartbeat_ms, self.control.target)
            else:
                self._register_again(self._echo)

    def _register_again(self, client: Client) -> None:
        """Register beside the heartbeats; the answer changes nothing for the process."""
        operation = self.run.recorder.ask(f"broker-{self.id} again", ("register", self.id, self.incarnation))

        def on_done(response: Any) -> None:
            if response is not None and not is_elsewhere(response.error_code):
                answer = "refused" if response.error_code else response.broker_epoch
                self.run.recorder.answer(operation, answer)

        client.ask(self._registration(), on_done, self.run.plan.heartbeat_ms, self.control.target)

    def _on_heartbeat_answer(self, response: BrokerHeartbeatResponse | None) -> None:
        if response is None or is_elsewhere(response.error_code):
            self.control.look_elsewhere()
            self.later(BACKOFF_MS, self._heartbeat)
            return
        if response.error_code == Error.NONE and response.should_shut_down and self.wants_out:
            self.machine.clean_epoch = self.epoch
            self.machine.on_left(self)
            return
        if response.error_code == Error.STALE_BROKER_EPOCH and self.machine.current is self:
            self.machine.begin_anew(self)  # it was unregistered, or another process registered its id
            return
        # Fenced brokers ask more often, until they are let in.
        self.later(self.run.plan.heartbeat_ms // (4 if response.is_fenced else 1), self._heartbeat)

    def later(self, delay_ms: int, act: Any) -> None:
        self.world.after(delay_ms * MS, self._if_alive, act)

    def _if_alive(self, act: Any) -> None:
        if not self.is_over:
            self.control.when_awake(act)


class BrokerMachine:
    """The machine of a broker, on which its processes run. clean_epoch: the epoch in its clean shutdown file.

    current: the process that was started last; stale: earlier ones that still run. gone_at: when the last one ended.
    directories: ids of its log directories; offline: those that have failed; cordoned: those that take no new replicas,
    None if none was configured. release: of its software. rack: None for none.
    """

    def __init__(self, run: Surroundings, broker_id: int) -> None:
        self.run = run
        self.id = broker_id
        self.life = 0
        self.clean_epoch = -1
        self.directories = [run.stream("directory", broker_id).randbytes(16)]
        for number in range(1, run.plan.directories):
            self.directories.append(run.stream("directory", broker_id, number).randbytes(16))
        self.offline: set[bytes] = set()
        self.cordoned: tuple[bytes, ...] | None = None
        self.release = run.plan.broker_releases.get(broker_id, NEWEST)
        self.rack = f"rack-{broker_id % run.plan.racks}" if run.plan.racks else None
        self.current: BrokerProcess | None = None
        self.stale: list[BrokerProcess] = []
        self.back_after_ms = 0
        self.gone_at = 0

    @property
    def replica_directory(self) -> bytes:
        """The directory of the metadata log."""
        return self.directories[0]

    def start(self) -> None:
        """Start a process, if none runs and a directory works."""
        if self.current is None and len(self.offline) < len(self.directories):
            self.life += 1
            self.current = BrokerProcess(self, self.life)
            self.current.start()
            self.clean_epoch = -1  # the file is gone once it was read

    def crash(self) -> None:
        """The process ends without a clean shutdown."""
        if self.current is not None:
            self.current.end()
            self.current = None
            self.gone_at = self.run.world.now

    def begin_anew(self, process: BrokerProcess) -> None:
        """A process that cannot go on ends, and another replaces it."""
        process.end()
        if process is self.current:
            self.current = None
            self.gone_at = self.run.world.now
            self.run.world.after(RESTART_MS * MS, self.start)

    def fail(self, directory: bytes) -> None:
        """A directory cannot be read or written any more; a broker without any ends."""
        self.offline.add(directory)
        if self.current is not None:
            self.current.directories.fail(directory)
        if len(self.offline) == len(self.directories):
            self.crash()

    def repair(self) -> None:
        """All directories work, and a new process uses them."""
        if self.offline:
            self.offline.clear()
            self.crash()
            self.run.world.after(RESTART_MS * MS, self.start)

    def double(self) -> BrokerProcess:
        """Start another process with the same id beside the running one."""
        self.life += 1
        process = BrokerProcess(self, self.life)
        self.stale.append(process)
        process.start()
        return process

    def end_second(self, process: BrokerProcess) -> None:
        """End the second process, as an operator does."""
        process.end()
        if process in self.stale:
            self.stale.remove(process)

    def leave(self, back_after_ms: int) -> None:
        """Shut the broker down cleanly, and start it again after a while."""
        self.back_after_ms = back_after_ms
        if self.current is not None:
            self.current.wants_out = True

    def on_left(self, process: BrokerProcess) -> None:
        process.end()
        if process is self.current:
            self.current = None
            self.gone_at = self.run.world.now
            self.run.world.after(self.back_after_ms * MS, self.start)

    def replace(self) -> None:
        """Stop a process (SIGSTOP), and start another with the same id: the first may continue later."""
        if self.current is not None:
            self.current.pause(is_paused=True)
            self.stale.append(self.current)
            self.current = None
        self.start()

    def wake_stale(self) -> None:
        """Stopped processes continue, with their former epochs."""
        for process in self.stale:
            process.pause(is_paused=False)

    def end_stale(self) -> None:
        """End all stale processes."""
        for process in self.stale:
            process.end()
        self.stale.clear()
