"""What a group commits, as it becomes visible, and how long its partitions stood still."""

import struct
import subprocess
import threading
import time


def texts(data, *kinds):
    """The fields of a record of Kafka's offsets topic: "h", "i", "q", or "s" for a string."""
    place, found = 0, []
    for kind in kinds:
        form = ">" + ("h" if kind == "s" else kind)
        (value,) = struct.unpack_from(form, data, place)
        place += struct.calcsize(form)
        if kind == "s":
            value, place = data[place:place + value].decode(), place + value
        found.append(value)
    return found


class Commits:
    """Follows the committed offsets of one group and topic, through outages of the brokers.

    They are read from the brokers' own topic of offsets, under read_committed: what is seen here
    is what another member would be told. Times are those of the brokers' records, for the reader
    itself is late after an outage.
    """

    def __init__(self, cluster, group, topic):
        self.name = f"the commits of {group}"
        self.place = (group, topic)
        self.command = [
            "kcat", "-C", "-b", cluster.brokers, "-t", "__consumer_offsets", "-o", "beginning",
            "-q", "-u", "-E", "-f", "%T %K %S\\n%k%s", "-X", "isolation.level=read_committed",
            "-X", "fetch.wait.max.ms=50", "-X", "reconnect.backoff.max.ms=500",
        ]
        self.offsets = {}  # partition: the newest offset
        self.moved = {}  # partition: when it moved last, epoch seconds
        self.pauses = []  # (seconds, partition, when it ended)
        self.is_ended = False
        self.child = None
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self):
        while not self.is_ended:
            self.child = subprocess.Popen(
                self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            while head := self.child.stdout.readline():
                when, key, value = (max(0, int(word)) for word in head.split())
                self._take(when / 1000, self.child.stdout.read(key), self.child.stdout.read(value))
            time.sleep(0.5)

    def _take(self, when, key, value):
        if len(key) < 2 or struct.unpack_from(">h", key)[0] > 1 or not value:
            return
        _, group, topic, partition = texts(key, "h", "s", "s", "i")
        if (group, topic) != self.place:
            return
        _, offset = texts(value, "h", "q")
        if offset > self.offsets.get(partition, -1):
            if since := self.moved.get(partition):
                self.pauses.append((when - since, partition, when))
            self.offsets[partition] = offset
            self.moved[partition] = when

    def standing(self):
        """How long each partition has stood still by now, seconds."""
        now = time.time()
        return {partition: now - since for partition, since in self.moved.items()}

    def log(self):
        return f"{self.offsets}\n"

    def kill(self):
        self.is_ended = True
        if self.child:
            self.child.kill()
            self.child.wait()
