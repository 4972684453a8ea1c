"""One machine with a disk and clocks, which runs the processes of one node, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from raft.interface.config import Endpoint, RaftConfig, ReplicaKey
from raft.storage.errors import CorruptLog, CorruptSnapshot, StorageError
from raft.storage.log import LogLimits
from raft.storage.names import QUORUM_STATE
from records.batch import CorruptBatch
from simulations.world.clocks import NodeClock
from simulations.world.disk import DIRECTORY, Disk, parent
from simulations.world.files import Dead
from simulations.world.releases import NEWEST
from simulations.world.streams import directory_id, stream
from simulations.world.trace import DISK, SYNC
from simulations.world.world import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from raft.interface.voters import VoterSet
    from simulations.world.interfaces import Network, Triggers, Watch
    from simulations.world.world import World


# The longest sync, however slow the disk: one that began under faults must end in the recovery phase.
SYNC_US_MAX = 3 * SECOND
# From a failed disk to the end of its process, which resigns in between.
RESIGN_US = SECOND // 10
# Short, as a world lasts some seconds.
PREFIX_INTERVAL_MS = 1_000
# Limits of production that are made smaller, so that short runs reach them.
LIMITS = LogLimits(prefix_interval_ms=PREFIX_INTERVAL_MS, prefix_bytes_max=4000, prefix_bytes_min=4000, mark_bytes=1000)
# Of the restarts after a failed disk, those that begin with an empty page cache.
POWER_SHARE = 0.5


class DiskPace(NamedTuple):
    """The duration of a sync, in microseconds: as `links.Latency`."""

    least: int = 100
    spread: int = 400
    tail: float = 0.0
    tail_us: int = 0


class DiskFault(NamedTuple):
    """An operation that fails. operation, kind: as of `files`, empty for any; code: errno's; once: only once."""

    operation: str
    kind: str
    code: int
    once: bool


def endpoint(node_id: int) -> Endpoint:
    """The address of a node."""
    return Endpoint("CONTROLLER", f"node-{node_id}", 9093)


class Life(Protocol):
    """The methods of a process that its machine calls."""

    has_failed: bool
    is_listening: bool
    is_paused: bool

    def boot(self) -> None: ...
    def when_awake(self, act: Callable[..., None], *args: Any) -> None: ...
    def shut_down(self) -> None: ...
    def resign(self) -> None: ...
    def resume(self) -> None: ...
    def on_clock_changed(self) -> None: ...
    def die(self) -> None: ...


P = TypeVar("P", bound=Life)


class Machine(Generic[P]):
    """A machine. is_on: it has power. make_process: makes its processes. life: counts its processes. process: None if
    none runs.

    host: its present address. config, static_voters: of its processes. limits: of its storage. release: whose versions
    of messages it supports.
    snapshot_every: records between snapshots, 0 for none. step_us: the duration of each step. broken: why it does not
    start, until it is repaired. wanted: whether it is to run. disks_lost: how often its disk was emptied, or restored
    from a backup. removes_quorum_state: that file is removed before each start. disk_rng: decides how long syncs take,
    and which writes survive.
    """

    def __init__(
        self,
        world: World,
        network: Network,
        triggers: Triggers,
        watch: Watch,
        root: int,
        node_id: int,
        make_process: Callable[[Machine[P]], P],
    ) -> None:
        self.world = world
        self.network = network
        self.triggers = triggers
        self.watch = watch
        self.id = node_id
        self.host = endpoint(node_id).host
        self.root = root
        self.is_on = True
        self.make_process = make_process
        self.life = 0
        self.process: P | None = None
        self.clock = NodeClock()
        self.config = RaftConfig("")
        self.static_voters: VoterSet
        self.limits = LIMITS
        self.release = NEWEST
        self.snapshot_every = 0
        self.snapshot_padding = 0
        self.step_us = 0
        self.pace = DiskPace()
        self.pace_times = 1
        self.disk_faults: list[DiskFault] = []
        self.journal = True
        self.removes_quorum_state = False
        self.broken = ""
        self.wanted = False
        self.disks_lost = 0
        self.unaware_peers: list[Any] = []
        self.disk = Disk(0)
        self.disk_rng = self.stream("disk")
        self._starts = 0
        network.attach(self)
        self.new_disk()

    @property
    def key(self) -> ReplicaKey:
        return ReplicaKey(self.id, directory_id(self.root, self.id, self.disk.number))

    def stream(self, *names: str | int) -> Random:
        """A random stream of this node."""
        return stream(self.root, f"node-{self.id}", *names)

    def new_disk(self) -> None:
        """Put in an empty disk, which has a new directory id."""
        assert self.process is None, f"node {self.id} runs"
        self.disk = Disk(self.disk.number + 1)
        self.disk.directories.add(parent(DIRECTORY))
        self.broken = ""
        self.disk_faults = []

    # Starting

    def start(self) -> None:
        """Start a process, if none runs, the machine has power, and it is not broken."""
        self.wanted = True
        if self.process is not None or self.broken or not self.is_on:
            return
        self.life += 1
        if self.removes_quorum_state:
            self.disk.take_away(f"{DIRECTORY}/{QUORUM_STATE}")
        process = self.process = self.make_process(self)
        self.watch.on_started(process)
        try:
            process.boot()
        except Dead as death:
            self.on_died(process, death)
        except StorageError as error:
            if isinstance(error.__cause__, OSError):
                self.on_failed(process, error)  # the disk failed; it may be well another time
                return
            self.broken = str(error)
            process.die()
            self.network.close_all(process, power_lost=False)
            self.process = None
            self.watch.on_start_refused(process, error)

    def start_after(self, delay_us: int) -> None:
        """Start after a delay, unless another start or a stop comes in between."""
        self.wanted = True
        self._starts += 1
        self.world.after(delay_us, self._start_if_meant, self._starts)

    def _start_if_meant(self, number: int) -> None:
        if number == self._starts and self.wanted:
            self.switch_on()
            self.start()

    # Ending

    def kill(self) -> None:
        """SIGKILL: the page cache stays, and the kernel closes the connections."""
        self._end("killed", power_lost=False)

    def lose_power(self) -> None:
        """The machine loses power, and is off until it is switched on."""
        if not self.is_on:
            return
        self._end("lost power", power_lost=True)
        self.disk.lose_power(self.disk_rng, journal=self.journal)
        self.is_on = False

    def switch_on(self) -> None:
        if not self.is_on:
            self.is_on = True
            self.network.reset_unaware_peers(self)

    def shut_down(self) -> None:
        """Tell the process to shut down cleanly."""
        self.wanted = False
        if self.process is not None:
            self.world.after(0, self.process.when_awake, self.process.shut_down)

    def stop(self) -> None:
        """Cancel any pending start; a running process goes on."""
        self.wanted = False
        self._starts += 1

    def on_died(self, process: P, death: Dead) -> None:
        """A fault killed the process; the exception says how it ends."""
        if process is not self.process:
            return
        how, down_us = death.args or ("kill", -1)
        if how == "power":
            self.lose_power()
        else:
            self.kill()
        if down_us >= 0:
            self.start_after(down_us)

    def on_failed(self, process: P, error: Exception) -> None:
        """The disk failed under a process, which stops. After a failed sync some pages are on no disk, and marked as
        clean. Its supervisor starts it again with that page cache, or somebody switches the machine off and on before.
        """
        if process is not self.process or process.has_failed:
            return
        process.has_failed = True
        if isinstance(error, (CorruptLog, CorruptSnapshot, CorruptBatch)):
            self.broken = str(error)  # it would fail again and again
        self.watch.on_failed(process, error)
        if process.is_listening:
            process.resign()
            self.world.after(RESIGN_US, self._finish, process)
        else:
            self._finish(process)

    def _finish(self, process: P) -> None:
        if process is not self.process:
            return
        life = self.life
        self._end("its disk failed", power_lost=False)
        if self.stream("page cache", life).random() < POWER_SHARE:
            self.disk.lose_power(self.disk_rng, journal=self.journal)
        if self.wanted:
            self.start_after(self.triggers.operator_delay_us)

    def on_left(self, process: P) -> None:
        """A process has shut down cleanly."""
        if process is self.process:
            self._end("left", power_lost=False)
            if self.wanted:
                self.start_after(0)  # a start was asked for since

    def _end(self, how: str, *, power_lost: bool) -> None:
        process = self.process
        if process is None:
            return
        self.process = None
        process.die()
        self.network.close_all(process, power_lost=power_lost)
        self.watch.on_ended(process, how)

    # Pausing

    def pause(self) -> None:
        if self.process is not None:
            self.process.is_paused = True

    def resume(self) -> None:
        if self.process is not None and self.process.is_paused:
            self.process.resume()

    def set_drift(self, ppm: int) -> None:
        self.clock.set_drift(self.world.now, ppm)
        self._on_clock_changed()

    def freeze_clock(self, *, frozen: bool) -> None:
        """Stop the monotonic clock, or continue it from the time at which it stopped."""
        if frozen != self.clock.frozen:
            if frozen:
                self.clock.freeze(self.world.now)
            else:
                self.clock.thaw(self.world.now)
                self._on_clock_changed()

    def _on_clock_changed(self) -> None:
        if self.process is not None:
            self.process.on_clock_changed()

    # The disk

    def before_disk(self, process: P, operation: str, kind: str) -> None:
        """Called before each disk operation: the process may die here, or the operation fail."""
        armed = self.triggers.armed_states
        if armed:
            for name in ("disk", f"disk:{operation}", f"disk:{operation}:{kind}"):
                if name in armed and (operation != "read" or name != "disk"):
                    self.triggers.reach(name, process)
        if self.disk_faults:
            for fault in self.disk_faults:
                # A fault of any changing operation does not affect reads: faults of reads name the operation.
                is_meant = fault.operation == operation or (not fault.operation and operation != "read")
                if is_meant and fault.kind in {"", kind}:
                    self._fail(fault, operation, kind)
        if self.watch.on_detail is not None and operation != "read":
            self.watch.on_detail((self.world.now, DISK, self.id, operation, kind, "done"))

    def _fail(self, fault: DiskFault, operation: str, kind: str) -> None:
        if fault.once:
            self.disk_faults.remove(fault)
        if self.watch.on_detail is not None:
            self.watch.on_detail((self.world.now, DISK, self.id, operation, kind, "fails"))
        raise OSError(fault.code, f"{operation} of {kind} was made to fail")

    def sync_us(self) -> int:
        """The duration of the next sync."""
        least, spread, tail, tail_us = self.pace
        rng = self.disk_rng
        if tail and rng.random() < tail:
            delay = least + int(rng.random() * tail_us)
        else:
            delay = least + int(rng.random() * spread)
        delay = min(delay * self.pace_times, SYNC_US_MAX)
        if self.watch.on_detail is not None:
            self.watch.on_detail((self.world.now, SYNC, self.id, delay))
        return delay

    # What others read

    def endpoints(self) -> tuple[Endpoint, ...]:
        return (endpoint(self.id)._replace(host=self.host),)

    def local_ms(self) -> int:
        return self.clock.ms(self.world.now)
