"""What is done to processes and brokers, each kind as a function, and a seed's schedule of them.

The brokers' faults are such as a correct broker survives. Kafka 4.4 is not correct while a
partition has no leader and the coordinator of a transaction on it runs: it then takes the partition
for deleted, and the transaction for complete without its marker (KAFKA-20734). So a lone broker
has a controller apart, is away for longer than the controller waits for it, and does not tell it
before; of several, one at a time fails, when all have caught up.
"""

import os
import signal
import time

from cluster import wait_until

NAMES = ("one", "two", "three", "four", "five")
SIZE = 3  # processes of a pool that nobody disturbs
SESSION = 6  # seconds: session and transaction time-out of the processes
RECOVERY = 90  # seconds within which processes and brokers must be whole again
BROKER_SESSION = 3  # seconds after which the controller gives up a silent broker


class Faults:
    """A seed's faults, one after the other: every kind once, in some order, and so again.

    All that is left to chance is drawn from the seed when a fault begins, so that a seed gives the
    same faults whatever time each of them takes.
    """

    def __init__(self, cluster, pool, chance):
        self.cluster = cluster
        self.pool = pool
        self.chance = chance
        self.deck = []
        self.happened = []  # (kind, when it began, epoch seconds)
        self.kinds = [
            self.killed, self.stopped_and_killed, self.all_killed, self.zombie, self.paused,
            self.scaled_to_one, self.scaled_to_five, self.rolling_restart, self.broker_killed,
            self.broker_away, self.broker_frozen,
        ]

    def next(self):
        """The next fault, and whether the pool must have recovered before it."""
        if not self.deck:
            self.deck = self.chance.sample(self.kinds, len(self.kinds))
        fault = self.deck.pop()
        orderly = (self.scaled_to_one, self.scaled_to_five, self.rolling_restart)
        return fault, fault in orderly or self.chance.random() < 0.75

    def run(self, fault, tell):
        kind = fault.__name__.replace("_", " ")
        self.happened.append((kind, time.time()))
        fault(lambda text: tell(f"{kind}: {text}"))

    def _one(self):
        return self.chance.choice(sorted(self.pool.running))

    def _time(self, low, high):
        return round(self.chance.uniform(low, high), 3)

    # Processes

    def _missing(self):
        """How long a process stays away: shorter than its session, or long enough to be missed."""
        return self.chance.choice([self._time(0.1, 2), self._time(SESSION + 0.5, SESSION + 3)])

    def killed(self, tell):
        name, missing = self._one(), self._missing()
        tell(f"kill -9 of {name}, started again after {missing} s")
        self.pool.kill(name)
        time.sleep(missing)
        self.pool.start(name)

    def stopped_and_killed(self, tell):
        """Most of the time there is an open transaction: stopped in it, and never continued."""
        name, stopped, missing = self._one(), self._time(0.005, 0.4), self._time(0.1, 2)
        tell(f"SIGSTOP of {name}, kill -9 {stopped} s later, started again after {missing} s")
        self.pool.freeze(name)
        time.sleep(stopped)
        self.pool.kill(name)
        time.sleep(missing)
        self.pool.start(name)

    def all_killed(self, tell):
        missing = self._time(0.1, 3)
        names = sorted(self.pool.running)
        tell(f"kill -9 of {', '.join(names)}, started again after {missing} s")
        for name in names:
            self.pool.kill(name)
        time.sleep(missing)
        for name in names:
            self.pool.start(name)

    def zombie(self, tell):
        name, stopped = self._one(), self._time(SESSION + 0.5, SESSION + 6)
        tell(f"SIGSTOP of {name}, SIGCONT after {stopped} s")
        self.pool.freeze(name)
        time.sleep(stopped)
        self.pool.thaw(name)

    def paused(self, tell):
        name, stopped = self._one(), self._time(0.5, SESSION - 0.5)
        tell(f"SIGSTOP of {name}, SIGCONT after {stopped} s, within its session")
        self.pool.freeze(name)
        time.sleep(stopped)
        self.pool.thaw(name)

    # Orderly changes

    def scaled_to_one(self, tell):
        names = sorted(self.pool.running)
        kept, alone = self.chance.choice(names), self._time(2, 6)
        names.remove(kept)
        tell(f"SIGTERM to {', '.join(names)}, {kept} is alone for {alone} s")
        self.pool.stop(names)
        time.sleep(alone)
        for name in names:
            self.pool.start(name)

    def scaled_to_five(self, tell):
        more = [name for name in NAMES if name not in self.pool.running]
        together = self._time(3, 7)
        fewer = sorted(self.chance.sample(NAMES, len(NAMES) - SIZE))
        tell(f"{' and '.join(more)} are started, after {together} s SIGTERM to "
             f"{' and '.join(fewer)}")
        for name in more:
            self.pool.start(name)
        time.sleep(together)
        self.pool.stop(fewer)

    def rolling_restart(self, tell):
        names = self.chance.sample(sorted(self.pool.running), len(self.pool.running))
        tell(f"SIGTERM and start of {', '.join(names)}, each when the one before is ready")
        for name in names:
            self.pool.stop([name])
            self.pool.start(name)
            self.pool.await_ready(RECOVERY)

    # Brokers

    def _node(self):
        """One of the nodes, when every partition has all its replicas."""
        if self.cluster.nodes > 1:
            wait_until("every replica has caught up", lambda: not self.cluster.cli(
                "topics", "--describe", "--under-replicated-partitions").strip(), RECOVERY, 2)
        return self.chance.randint(1, self.cluster.nodes)

    def broker_killed(self, tell):
        away = self._time(BROKER_SESSION + 0.5, BROKER_SESSION + 2)
        self._without(self._node(), away, True, tell)

    def broker_away(self, tell):
        """Longer than a transaction may take."""
        away = self._time(SESSION + 1, SESSION + 5)
        self._without(self._node(), away, False, tell)

    def _without(self, node, away, kill, tell):
        tell(f"{'kill -9' if kill else 'SIGTERM'} of node {node}, started again after {away} s")
        self.cluster.stop_broker(kill=kill, node=node)
        time.sleep(away)
        self.cluster.start_broker()

    def broker_frozen(self, tell):
        node = self._node()
        longest = SESSION + 3 if self.cluster.nodes > 1 else BROKER_SESSION - 1
        frozen = self._time(0.5, longest)
        tell(f"SIGSTOP of node {node}, SIGCONT after {frozen} s")
        process = self.cluster.broker_processes()[node - 1]
        os.kill(process, signal.SIGSTOP)
        time.sleep(frozen)
        os.kill(process, signal.SIGCONT)
