"""Writes the inputs that fuzzing begins with: seeds.py FOLDER."""

import json
import pathlib
import sys

RECORDINGS = pathlib.Path("../shared/conformance")
TEXTS = [
    '{"user_id":7}',
    '{"event_id":"e1","room_id":"r","user_id":"7","user_name":"\\ud83c\\udf81 \\u5c0f","count":66}',
    '{"user_id":"7","streak_id":"s","streak_count":9223372036854775807,"streak_end":true}',
    '{"user_id":"7","value":-0,"sent_at":1760000000000,"streakable":false,"x":[[{}],1e3]}',
    ' {"user\\u005fid" : "\\u0037" , "user_id":null, "gift_image":"https:\\/\\/x/\\"" } ',
]


def gift_event(key, value):
    """A gift event's input: the key's length (255: none), the key, the value."""
    head = b"\xff" if key is None else bytes([min(len(key), 254)]) + key[:254]
    return head + value


def recorded_gift_events():
    for path in sorted(RECORDINGS.glob("*.json")):
        for record in json.loads(path.read_text(encoding="utf-8"))["records"][:6]:
            key = record.get("key")
            value = record.get("value")
            if not isinstance(value, str):
                value = json.dumps(value, ensure_ascii=False)
            yield gift_event(key if key is None else str(key).encode(), value.encode())


def number(value):
    """A number of variable length."""
    value &= (1 << 64) - 1
    result = bytearray()
    while value >= 0x80:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)


def memory(unnamed, streaks, ids):
    result = number(unnamed) + number(len(streaks))
    for streak, total in streaks:
        result += streak.to_bytes(8, "little") + number(total)
    return result + number(len(ids)) + b"".join(i.to_bytes(8, "little") for i in ids)


def states():
    texts = [b"r", b"7", "小".encode(), b"", b"", b"g", b"", b"i"]
    packed = b"".join(number(len(text)) + text for text in texts)
    combo = number(9) + number(4) + number(70) + number(5) + number(1760000002000) + number(3)
    much = memory(5, [(11, 3), (12, 2**63 - 1)], list(range(32)))
    yield bytes([1, 0]) + number(9) + number(1760000005000) + memory(0, [], [1])
    yield bytes([1, 0]) + number(-1) + number(-5) + much
    yield bytes([1, 1]) + combo + packed + memory(0, [], [])
    yield bytes([1, 3]) + combo + packed + much
    for flags in (5, 7, 13, 15):
        shown = number(66 if flags & 8 else 70) + number(1760000000000)
        yield bytes([1, flags]) + combo + shown + packed + much
    yield bytes([2, 0, 0])


def write(folder, inputs):
    folder.mkdir(parents=True, exist_ok=True)
    for index, content in enumerate(inputs):
        (folder / f"{index:04}").write_bytes(content)


target = pathlib.Path(sys.argv[1])
own = [gift_event(key, text.encode()) for text in TEXTS for key in (b"7", None)]
write(target / "FuzzGiftEvents", own + list(recorded_gift_events()))
write(target / "FuzzChangelog", states())
