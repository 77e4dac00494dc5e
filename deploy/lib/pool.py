"""Several `giftcombo run` processes under a supervisor that starts again what the watchdog ended."""

import collections
import json
import re
import signal
import threading
import time
import urllib.request

from cluster import Failure, say, wait_until

WATCHDOG = 67  # exit code of a process whose worker hung in a call
COUNTED = ("giftcombo_transactions_total{result=\"committed\"}",
           "giftcombo_transactions_total{result=\"aborted\"}", "giftcombo_fenced_total")


class Pool:
    """Processes by name; an exit that nobody asked for is remembered, and ends the run."""

    def __init__(self, cluster, partitions, settings):
        self.cluster = cluster
        self.partitions = partitions
        self.settings = settings
        self.running = {}
        self.frozen = set()
        self.all = []
        self.watchdog_exits = 0
        self.unexpected = None
        self.counts = collections.defaultdict(dict)  # process: metric: value at the last look
        self.is_ended = False
        self.lock = threading.Lock()
        for turn in (self._supervise, self._look):
            threading.Thread(target=turn, daemon=True).start()

    def start(self, name):
        process = self.cluster.worker(name, **self.settings)
        with self.lock:
            self.running[name] = process
            self.all.append(process)

    def take(self, name):
        """A process that is going to be ended: the supervisor lets it alone from now on."""
        with self.lock:
            self.frozen.discard(name)
            return self.running.pop(name)

    def kill(self, name):
        self.take(name).kill()

    def stop(self, names):
        """SIGTERM to all of them at once; each must end with 0 in its time."""
        taken = [self.take(name) for name in names]
        for process in taken:
            process.signal(signal.SIGTERM)
        for process in taken:
            status = process.wait(11)
            if status != 0:
                raise Failure(f"{process.name} exited {status} after SIGTERM")

    def freeze(self, name):
        with self.lock:
            self.frozen.add(name)
            self.running[name].signal(signal.SIGSTOP)

    def thaw(self, name):
        with self.lock:
            self.frozen.discard(name)
            self.running[name].signal(signal.SIGCONT)

    # What the supervisor does

    def _supervise(self):
        while not self.is_ended:
            with self.lock:
                ended = [(n, p) for n, p in self.running.items() if p.child.poll() is not None]
                for name, _ in ended:
                    del self.running[name]
            for name, process in ended:
                status = process.child.returncode
                if status == WATCHDOG:
                    self.watchdog_exits += 1
                    say(f"   {name}: its watchdog ended it (exit {status}); started again")
                    self.start(name)
                elif self.unexpected is None:
                    end = "\n".join(process.log().splitlines()[-15:])
                    self.unexpected = f"{name} exited {status} by itself:\n{end}"
            time.sleep(0.2)

    def _look(self):
        while not self.is_ended:
            for name, process in list(self.running.items()):
                if name not in self.frozen and (text := ask(process, "/metrics")):
                    lines = dict(re.findall(r"^(\S+) (\S+)$", text, re.M))
                    self.counts[process] = {m: float(lines.get(m, 0)) for m in COUNTED}
            time.sleep(1)

    # How they are

    def check_unexpected(self):
        if self.unexpected:
            raise Failure(self.unexpected)

    def is_ready(self):
        """Whether every process is ready, and all together own every partition."""
        self.check_unexpected()
        live = set()
        for name, process in list(self.running.items()):
            if name in self.frozen or ask(process, "/readyz") is None:
                return False
            owned = json.loads(ask(process, "/partitions") or '{"partitions":[]}')["partitions"]
            live |= {row["partition"] for row in owned if row["phase"] == "live"}
        return len(live) == self.partitions

    def await_ready(self, seconds):
        """Waits for it; how long it took."""
        start = time.monotonic()
        wait_until(f"all of {', '.join(self.running)} are ready with every partition",
                   self.is_ready, seconds, 0.1)
        return time.monotonic() - start

    # What they have done

    def total(self, metric):
        return int(sum(found.get(metric, 0) for found in self.counts.values()))

    def logged(self, pattern):
        """All matches of a pattern in the logs, those of processes that are gone among them."""
        return [match for process in self.all for match in re.findall(pattern, process.log(), re.M)]

    def end(self):
        self.is_ended = True
        for name in list(self.frozen):
            self.thaw(name)


def ask(process, path):
    """What an admin endpoint answers with 200 within a second; nil else."""
    address = process.address()
    if not address:
        return None
    try:
        with urllib.request.urlopen(f"http://{address}{path}", timeout=1) as answer:
            return answer.read().decode()
    except OSError:
        return None
