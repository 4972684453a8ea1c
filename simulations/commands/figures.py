"""Figures that were measured by hand, each with the command that measures it again; `results` prints them."""

from __future__ import annotations

from typing import NamedTuple


class Figure(NamedTuple):
    """goal: its id; what: what is measured; command: after `python -m simulations`; measured: the result."""

    goal: str
    what: str
    command: str
    target: str
    measured: str


FIGURES = (
    Figure(
        "G1",
        "determinism",
        "determinism",
        "1,000 seeds: the same trace in one process, in fresh ones, under three PYTHONHASHSEED and under Spark",
        "reached: 1,000 seeds of raft (7001-8000), five times each, 0 differ; 24 min of CPU. The gate runs 200 "
        "seeds of four levels four times each, 0 differ; 322 s of CPU",
    ),
    Figure(
        "G2",
        "lines of production code that run",
        "lines --seeds 120",
        "92 % of the lines that count, in 500 seeds",
        "reached: 92.48 % of 12,536 statements in 164 modules, with 120 seeds",
    ),
    Figure(
        "G3",
        "how often each kind of fault strikes",
        "coverage --seeds 1-500 --also raft-long",
        "1 % of the seeds or more",
        "reached: 2 % or more of 1,000 seeds of raft and raft-long; of those that wait until they are safe, wipe "
        "4.7 %, lose_snapshot 2.9 %, restore 1.5 %. In 150 seeds of the controller level (111-260) each kind "
        "struck in 1 or more",
    ),
    Figure(
        "G5",
        "false alarms",
        "sweep --seeds 1-10000",
        "0 in 10,000 seeds without a mutant",
        "reached at the second attempt: the first 10,000 seeds of four levels (52 min of CPU) broke in 12, two of"
        " them by a bug of the product and ten by the simulation; all are fixed (FINDINGS.md, "
        "test_false_alarms.py). Run again with the fixes: none broken. With dynamic voters and elections that wait"
        " for less, all six levels: raft 1-6000, raft-long 1-1000, members 1-4000, controller 1-1300, node 1-900,"
        " secured 1-600 (83 min of CPU): 27 broke by six errors of the simulation and none by the product; fixed,"
        " and run again, none broken. Since a stopped leader waits for the logs of the voters: raft 1-4500, raft-long "
        "1-800, members 1-3000, controller 1-900, node 1-550, secured 1-300, none broken. With the autopilot and "
        "formed quorums: members 3000001-3010000 (121 min of CPU): two broke by errors of the simulation, "
        "none by the product; fixed, and clean",
    ),
    Figure(
        "G8",
        "generated mutants of raft's core",
        "mutants --generic raft --sample 250 --seeds 1-90 --tries 25",
        "85 % of those that are not equivalent, 95 % with unit tests",
        "reached: 185 caught, 54 excused in SURVIVORS.md, 11 missed: 94.4 % of 196",
    ),
    Figure(
        "G8",
        "generated mutants of the controller",
        "mutants --generic controller --sample 250 --seeds 1-90 --tries 18",
        "75 % of those that are not equivalent, 95 % with unit tests",
        "reached: 203 caught, 28 excused in SURVIVORS.md, 19 missed: 91.4 % of 222; 97.7 % with the unit tests of"
        " the same modules",
    ),
    Figure(
        "G10",
        "speed of the raft level: 3 voters, codec, a write each 100 ms",
        "bench raft",
        "20,000 messages and 100 simulated s per s of CPU",
        "not reached: 5,000 and 64; 7,300 and 95 without the specification (T01) and the model of answers (S25); "
        "230 simulated s when idle. A message is one and a half steps of the real core with the real storage, "
        "over 200 Python calls, none of which takes 3 % of the time",
    ),
    Figure(
        "G11",
        "speed of the controller level: 3 controllers, 5 brokers, 4 clients, Kafka's own timeouts",
        "bench cluster",
        "4,000 messages and 20 simulated s per s of CPU",
        "reached: 5,300 and 22.7 on a Python 3.11 built with profile-guided optimisation; 4,400 and 19.2 without",
    ),
    Figure(
        "G12",
        "volume of the gate",
        "sweep --ci",
        "1,000 raft seeds, 30,000 simulated s, and 50 cluster seeds with 500 s, in 4 min on 2 idle cores",
        "reached: 400 seeds of raft, 609 of raft-long (30,306 simulated s), 83 of controller (537 s) and 20 of "
        "node in 3 min 29 s and 405 s of CPU with the optimised Python; 498 s of CPU without",
    ),
    Figure(
        "G12",
        "volume of a fleet",
        "sweep --seeds 1-100000 --spark local[2] --out DIR",
        "100,000 seeds, 85 % efficiency",
        "not measured: about 9 hours of CPU. For seeds 251-500, 95 of 145 s of CPU went into worlds; 24 s are the"
        " JVM's and 1 to 2 s the start of each part",
    ),
    Figure(
        "G13",
        "reproduction",
        "run --seed N",
        "one command repeats a finding to the bit in a fresh clone",
        "reached: a test runs the printed command in a copy of the repository under another PYTHONHASHSEED",
    ),
    Figure(
        "G15",
        "histories",
        "histories",
        "all decided, 99 of 100 within 0.5 s; agrees with Porcupine and with all orders",
        "reached: each cluster of the gate is decided; 108 of 108 of Porcupine's histories, 100,000 of 100,000 "
        "small ones",
    ),
    Figure(
        "G16",
        "the executable specification",
        "spec, spec --mutants --worlds 4",
        "each raft step, at 40 % of CPU time on top, and 60 % of the R and M mutants by itself",
        "reached: 26 % on top (seeds 1-40); 40 of 52 mutants of the raft level (77 %), and 18 of 22 of the members "
        "level (with --worlds 8; not M15, M16, M19 and M23)",
    ),
    Figure(
        "G17",
        "small worlds",
        "search",
        "200,000 distinct states in 60 s",
        "reached: succession 261,006 states and 602,470 transitions in 14 s; election 68,553 states in 3 s; with a "
        "change of the voters during an election, addition 153,865 states in 6 s and removal 238,808 in 11 s; all "
        "complete",
    ),
    Figure(
        "G17",
        "a small world with one change of the voters: an addition, an election and a crash of any node",
        "search --scope addition-crash --states-max 30000000",
        "5,000,000 states, complete",
        "reached: 5,929,917 states and 15,810,667 transitions in 284 s of CPU, complete; with a removal, an election "
        "and a write (`--scope reconfiguration`) 4,798,083 states in 216 s, complete",
    ),
    Figure(
        "G17",
        "small worlds, by a fleet",
        "search --scope fleet --spark local[2] --out DIR",
        "20,000,000 states",
        "reached: 20,676,964 distinct states in five scopes, each complete, in 19.5 min of CPU",
    ),
    Figure(
        "G18",
        "coverage of what worlds do",
        "coverage --seeds 1-500 --also raft-long",
        "all cells of role, message and outcome; 90 % of three roles in a row and of pairs of actions; all moments",
        "reached: cells 323 of 323, roles 58 of 59, actions 621 of 674, moments 45 of 45 in 1,000 seeds and 75 "
        "plans for uncommon events; without these plans 298, 54, 613 and 44",
    ),
    Figure(
        "G20",
        "the HTML page of a run",
        "corpus --pages DIR",
        "3 MB and 5 s for each entry of the corpus",
        "reached: 0.6 MB for raft, 1.3 MB for controller, 1.5 MB for node; 0.04 to 0.11 s of CPU beside the run",
    ),
    Figure(
        "G21",
        "the corpus",
        "corpus --verify",
        "each entry is well, and breaks with its mutant, in 30 s",
        "reached: 22 s on two idle cores, with 132 entries",
    ),
    Figure(
        "G22",
        "upgrades",
        "coverage",
        "10 % of the seeds mix releases; files of every release open",
        "reached: 10.1 % of 1,000 raft seeds and 21 % of 600 controller seeds; `make test` opens and appends to "
        "what 4.0.2, 4.1.1 and 4.3.1 wrote (tests/data/golden)",
    ),
    Figure(
        "G23",
        "real processes",
        "chaos --seconds 1800 --seed 23 --mix",
        "30 min with SIGKILL without a violation; kinds of requests differ by less than 10 % from simulation",
        "reached: 702 faults, 251,417 operations, 98,321 batches, no violation; less than 0.1 % of the requests differ",
    ),
)
