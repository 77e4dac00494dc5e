"""The overlay in a browser, as a check sees it: gifts in, rows out, and when each changed."""

import ctypes
import itertools
import json
import time
import urllib.parse

from cluster import ROOT, Failure, Process, check, wait_until

RECORDER = (ROOT / "deploy/overlay/recorder.js").read_text()
COPIED = 2  # RD_KAFKA_MSG_F_COPY
# Milliseconds that timers and frames may be late on a machine that does what it is asked.
SLACK = 200
SHOTS = ROOT / ".build/overlay"


def now():
    """The present time, epoch milliseconds, as browser and broker have it."""
    return time.time() * 1000


def pause_until(moment):
    """Waits for a time of `now()`."""
    time.sleep(max(0, moment - now()) / 1000)


class Writer:
    """Writes records to a topic the moment that they are given, keyed as Java does it.

    By the library that giftcombo itself runs on: kcat waits for a full buffer.
    """

    def __init__(self, cluster, topic):
        self.name = topic
        self.library = ctypes.CDLL("librdkafka.so.1")
        for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_topic_new"):
            getattr(self.library, name).restype = ctypes.c_void_p
        conf = ctypes.c_void_p(self.library.rd_kafka_conf_new())
        reason = ctypes.create_string_buffer(512)
        settings = {"bootstrap.servers": cluster.brokers, "linger.ms": "1",
                    "partitioner": "murmur2_random"}
        for key, value in settings.items():
            if self.library.rd_kafka_conf_set(conf, key.encode(), value.encode(), reason, 512):
                raise Failure(reason.value.decode())
        self.client = ctypes.c_void_p(self.library.rd_kafka_new(0, conf, reason, 512))
        self.topic = ctypes.c_void_p(
            self.library.rd_kafka_topic_new(self.client, topic.encode(), None))
        cluster.processes.append(self)

    def write(self, key, *values):
        """Writes values, each as JSON unless it is a text already."""
        key = key.encode()
        for value in values:
            is_text = isinstance(value, str)
            text = (value if is_text else json.dumps(value, ensure_ascii=False)).encode()
            while self.library.rd_kafka_produce(
                    self.topic, -1, COPIED, text, ctypes.c_size_t(len(text)),
                    key, ctypes.c_size_t(len(key)), None):
                self.flush()

    def flush(self):
        if self.library.rd_kafka_flush(self.client, 10_000):
            raise Failure(f"{self.name}: records are not taken")

    def log(self):
        return ""

    def kill(self):
        self.library.rd_kafka_topic_destroy(self.topic)
        self.library.rd_kafka_destroy(self.client)


class Gateway(Process):
    """A running `giftcombo overlay`."""

    def __init__(self, cluster, name, **settings):
        settings = {"overlay.listen": "127.0.0.1:0"} | {
            k.replace("_", "."): v for k, v in settings.items()
        }
        super().__init__(cluster, name, settings, command="overlay")
        cluster.processes.append(self)


class Frame:
    """What was on screen from a time on, until the next frame."""

    def __init__(self, found):
        self.at = found["at"]
        self.lanes = found["lanes"]
        self.rows = [row | {"lane": index} for index, lane in enumerate(self.lanes)
                     for row in lane["rows"]]

    def row(self, sender):
        """The row of a sender, or None."""
        return next((row for row in self.rows if row["sender"] == sender), None)


class Stage:
    """One page of a room, and what it has shown since it was opened."""

    def __init__(self, browser, address, room, query="", width=640, height=320, **options):
        self.name = room
        where = f"http://{address}/overlay?room={urllib.parse.quote(room, safe='')}{query}"
        self.page = browser.page(where, width, height, before=RECORDER, **options)
        self.page.evaluate("document.body.style.background ="
                           " 'linear-gradient(115deg, #33475b, #8a6d5a 55%, #d8cdb8)'")

    def frames(self):
        return [Frame(it) for it in self.page.evaluate("recorded")]

    def now(self):
        """What is on screen now."""
        return Frame(self.page.evaluate("({ at: Date.now(), lanes: lookAtLanes() })"))

    def slack(self):
        """Milliseconds that a change may be late: for frames, and for what the machine stood still.

        That the page itself makes it stand still is no excuse for more than a second.
        """
        return SLACK + min(1000, self.page.evaluate("longestGap"))

    def await_row(self, sender, count=None, seconds=10):
        """Waits until a sender's row is up (with a count); the row."""
        def found():
            row = self.now().row(sender)
            is_it = row and row["phase"] == "up" and count in (None, row["count"])
            return row if is_it else None

        return wait_until(f"{self.name}: a row of {sender} x{count}", found, seconds, 0.02)

    def await_empty(self, seconds=20):
        """Waits until no row is left, and that is written down: a frame may come much later."""
        def is_empty():
            frames = self.frames()
            return not self.now().rows and not (frames and frames[-1].rows)

        wait_until(f"{self.name}: no row any more", is_empty, seconds, 0.05)

    def hold(self, selector, milliseconds):
        """Stops the movements of some elements where they are after a time; how many these are."""
        return self.page.evaluate(f"""
            [...document.querySelectorAll({json.dumps(selector)})]
                .flatMap((it) => it.getAnimations())
                .map((it) => {{ it.pause(); it.currentTime = {milliseconds}; }})
                .length""")

    def shot(self, name):
        self.page.screenshot(SHOTS / f"{name}.png")

    def complaints(self):
        """What went wrong in the page; browsers ask for an icon unasked."""
        return [text for text in self.page.complaints() if "favicon" not in text]

    def check_quiet(self):
        """Nothing went wrong in the page."""
        found = self.complaints()
        check(not found, f"{self.name}: the page has nothing to complain of {found or ''}")

    def close(self):
        self.page.close()


class Turn:
    """The time of one row on screen, from its first frame to its last."""

    def __init__(self, frames, after):
        self.frames = frames  # (time, the row)
        self.start = frames[0][0]
        self.gone = after
        self.rows = [row for _, row in frames]
        self.leaving = next((at for at, row in frames if row["phase"] == "leaving"), None)

    def counts(self):
        """The counts shown, without repetitions."""
        counts = [row["count"] for row in self.rows]
        return [it for index, it in enumerate(counts) if index == 0 or counts[index - 1] != it]

    def bounces(self):
        """How often the number grew well beyond its size."""
        is_big = [row["bounce"] > 1.15 for row in self.rows]
        return sum(big and not before for big, before in zip(is_big, [False, *is_big]))


def turns(frames, sender):
    """The turns that a sender's rows have had, first to last."""
    found, current = [], []
    for frame in frames:
        row = frame.row(sender)
        if row and current and row["combo"] == current[-1][1]["combo"] or row and not current:
            current.append((frame.at, row))
            continue
        if current:
            found.append(Turn(current, frame.at))
        current = [(frame.at, row)] if row else []
    if current:
        found.append(Turn(current, None))
    if not found:
        raise Failure(f"no row of {sender} was ever on screen")
    return found


class Show:
    """The whole way from a gift to the screen."""

    def __init__(self, cluster, browser):
        self.cluster = cluster
        self.browser = browser
        cluster.run("topics", "--partitions", 4)
        self.worker = cluster.worker("worker", workers=1)
        self.gateway = Gateway(cluster, "gateway")
        self.gifts = Writer(cluster, "gift.events")
        self.commands = Writer(cluster, "overlay.commands")
        self.worker.await_ready()
        self.gateway.await_ready()
        self.numbers = itertools.count(1)

    def stage(self, room, query="", **options):
        return Stage(self.browser, self.gateway.address(), room, query, **options)

    def gift(self, room, user, name, gift="Rose", **fields):
        """Sends a gift; the time."""
        sent = now()
        self.gifts.write(user, {
            "event_id": f"e{next(self.numbers)}", "room_id": room, "user_id": user,
            "user_name": name, "gift_id": gift, "gift_name": gift, "value": 1, **fields,
        })
        return sent

    def command(self, room, combo, seq, kind="show", count=1, stays=2000, **fields):
        """Writes a command to the topic itself, as if a worker had; the command."""
        at = int(now())
        command = {
            "command": kind, "combo_id": combo, "id": f"{combo}#{seq}", "seq": seq,
            "room_id": room, "user_id": "1", "from": 0, "count": count, "value": 0, "lane": 0,
            "at": at, "hide_at": at + stays, "end_at": at + stays + 3000, **fields,
        }
        self.commands.write(room, command)
        return command
