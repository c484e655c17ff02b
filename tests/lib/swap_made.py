# SPDX-License-Identifier: MIT
"""SWAP streams, taken apart and put together by the tables of the protocol alone (doc/swap.md), not by ftr's."""
import struct

FILES = "pid:I tid:I fd:I event_type:I path:s args_type:I"
PROBE = "api:I pid:I tid:I args:A return:a errno:Q call_type:I caller:Q reserved:I reserved2:I "
CALL = "pid:I tid:I pc:Q caller:Q cpu:I "
SYSCALL = "pid:I tid:I probe_type:I pc:Q caller:Q cpu:I "
SWITCH = "pc:Q pid:I tid:I cpu:I"

# id: name, fields.  s text, a argument, A arguments, t time, *N list of the N fields behind it, R rest, f d floats.
TABLE = {
    0x0001: ("PROCESS_INFO", "pid:I command:s ppid:I start:t lowest:Q highest:Q path:s libraries:*3 lowest:Q highest:Q path:s"),
    0x0002: ("TERMINATE", "pid:I"),
    0x0003: ("ERROR", "message:s"),
    0x0004: ("SAMPLE", "pid:I pc:Q tid:I cpu:I"),
    0x0008: ("FUNCTION_ENTRY", CALL + "args:A"),
    0x0009: ("FUNCTION_EXIT", CALL + "return:a"),
    0x000a: ("SYSCALL_ENTRY", SYSCALL + "args:A"),
    0x000b: ("SYSCALL_EXIT", SYSCALL + "return:a"),
    0x000c: ("FILE_FUNCTION_ENTRY", FILES),     # and what args_type says
    0x000d: ("FILE_FUNCTION_EXIT", "pid:I tid:I return:a"),
    0x000e: ("PROCESS_STATUS_INFO", "pid:I files:*4 fd:I tid:I bytes:Q path:s"),
    0x0010: ("CONTEXT_SWITCH_ENTRY", SWITCH),
    0x0011: ("CONTEXT_SWITCH_EXIT", SWITCH),
    0x0012: ("PROCESS_MAP", "pid:I lowest:Q highest:Q path:s"),
    0x0013: ("PROCESS_UNMAP", "pid:I lowest:Q highest:Q"),
    0x0015: ("WEB_SAMPLING", "subtype:B pid:I tid:I line:I function:s url:s"),
    0x0019: ("APP_SETUP_STAGE", "pid:I stage:I begin:t end:t"),
    0x001a: ("WEB_APP_SETUP_STAGE", "pid:I stage:I"),       # and what the stage says
    0x0020: ("FBI", "variable:I bytes:I data:R"),
    0x0021: ("UI_HIERARCHY", "path:s"),
    0x0022: ("LSAN", "status:I pid:I message:s call_type:I caller:Q"),
    0x0101: ("PROBE_MEMORY", PROBE + "bytes:Q api_type:I address:Q"),
    0x0102: ("PROBE_UICONTROL", PROBE + "type:s name:s control:Q"),
    0x0103: ("PROBE_UIEVENT", PROBE + "event_type:I detail_type:I x:I y:I info:s info2:I"),
    0x0104: ("PROBE_FILE", PROBE + "bytes:Q fd:Q api_type:I file_bytes:Q path:s"),
    0x0105: ("PROBE_LIFECYCLE", PROBE),
    0x0106: ("PROBE_SCREENSHOT", PROBE + "path:s orientation:I"),
    0x0107: ("PROBE_SCENE", PROBE + "scene:s form_name:s form:Q panel_name:s panel:Q transition:Q user_data:Q"),
    0x0108: ("PROBE_THREAD", PROBE + "pthread:Q thread:Q thread_type:I api_type:I class:s"),
    0x0109: ("PROBE_CUSTOM", PROBE + "handle:I type:I name:s color:I value:d"),
    0x0110: ("PROBE_SYNC", PROBE + "object:Q sync_type:I api_type:I"),
    0x0111: ("PROBE_NETWORK", PROBE + "object:Q fd:Q api_type:I ipv4:I port:I bytes:Q data:R"),
    0x0112: ("PROBE_GLES20", PROBE + "context:Q api_type:I elapsed_ns:Q value:s"),
}
SYSTEM = 0x0005
SYSTEM_TAIL = 21
ARGS = {"c": "<b", "b": "<?", "d": "<i", "x": "<q", "p": "<Q", "f": "<f", "w": "<d"}
STAGE_FIELDS = {1: "resource:I path:s", 2: "resource:I", 3: "resource:I", 4: "resource:I"}
FILE_FIELDS = {1: "open_path:s", 2: "lock_type:I whence:I start:Q length:Q"}


def fields_of(text):
    return [tuple(field.split(":")) for field in text.split()]


def more_fields(ident, values):
    """The fields behind a number that says which follow."""
    if ident == 0x000c:
        return fields_of(FILE_FIELDS.get(values["args_type"], ""))
    if ident == 0x001a:
        return fields_of(STAGE_FIELDS.get(values["stage"], ""))
    return []


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        value, = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def text(self):
        end = self.data.index(b"\0", self.at)
        value, self.at = self.data[self.at:end], end + 1
        return value.decode("utf-8")

    def argument(self):
        kind = chr(self.take("B"))
        if kind in "vn":
            return kind, None
        return kind, self.text() if kind == "s" else self.take(ARGS[kind][1:])

    def value(self, kind):
        if kind == "s":
            return self.text()
        if kind == "t":     # the document: seconds in the upper half
            return divmod(self.take("Q"), 1 << 32)
        if kind == "a":
            return self.argument()
        if kind == "A":
            return [self.argument() for _ in range(self.take("I"))]
        if kind == "R":
            rest, self.at = self.data[self.at:], len(self.data)
            return rest
        return self.take(kind)

    def fields(self, fields):
        values, i = {}, 0
        while i < len(fields):
            name, kind = fields[i]
            i += 1
            if kind[0] == "*":
                rows = fields[i:i + int(kind[1:])]
                values[name] = [self.fields(rows) for _ in range(self.take("I"))]
                i += len(rows)
            else:
                values[name] = self.value(kind)
        return values


def system(payload, cpus, devices):
    reader = Reader(payload)
    values = {"frequency": [reader.take("f") for _ in range(cpus)], "load": [reader.take("f") for _ in range(cpus)],
              "memory": reader.take("Q")}
    values["processes"] = [process(reader) for _ in range(reader.take("I"))]
    values["others"] = [(reader.take("I"), reader.take("f")) for _ in range(reader.take("I"))]
    values["tail"] = [reader.take("I") for _ in range(SYSTEM_TAIL + 2 * devices)]
    assert reader.at == len(payload), "SYSTEM: bytes are left"
    return values


def process(reader):
    head = [reader.take(form) for form in "IfQQQQQ"]
    return head, [(reader.take("I"), reader.take("f")) for _ in range(reader.take("I"))]


def messages(data, cpus=1, devices=3, is_legacy=False):
    """(id, sequence, (seconds, nanoseconds), {field: value}) of each."""
    at = 0
    while at < len(data):
        ident, sequence, first, second, size = struct.unpack_from("<IIIII", data, at)
        payload = data[at + 20:at + 20 + size]
        assert len(payload) == size, "cut message"
        at += 20 + size
        if ident == SYSTEM:
            values = system(payload, cpus, devices)
        else:
            reader = Reader(payload)
            values = reader.fields(fields_of(TABLE[ident][1]))
            values.update(reader.fields(more_fields(ident, values)))
            if ident == 0x0102 and reader.at < size:
                values["child"] = reader.fields(fields_of("type:s name:s control:Q"))
            assert reader.at == size, f"{TABLE[ident][0]}: {size - reader.at} bytes are left"
            assert ident != 0x0020 or len(values["data"]) == values["bytes"]
        yield ident, sequence, (first, second) if is_legacy else (second, first), values


def made_value(kind, i):
    """The bytes of the i-th value of a field."""
    if kind == "s":
        return f"text {i} \u00e4\\\"".encode("utf-8") + b"\0"
    if kind == "t":
        return struct.pack("<Q", 1700000000 << 32 | 123456789 + i)
    if kind == "a":
        return b"p" + struct.pack("<Q", 0x7f0000001000 + i)
    if kind == "A":
        return struct.pack("<I", 8) + b"c\x41" + b"b\x01" + b"d\xfe\xff\xff\xff" + b"x" + struct.pack("<q", -5) + \
            b"p" + struct.pack("<Q", 0xdead0000) + b"f" + struct.pack("<f", 0.1) + b"w" + struct.pack("<d", 1e300) + \
            b"sa\tb\0"
    if kind == "R":
        return b"\x00\x01\xff" if i else b""
    return struct.pack("<" + kind, i + 0.5 if kind in "fd" else i % 200 + 1)


def made_fields(fields, pid):
    data, i = b"", 0
    while i < len(fields):
        name, kind = fields[i]
        i += 1
        if kind[0] == "*":
            rows = fields[i:i + int(kind[1:])]
            data += struct.pack("<I", 2) + made_fields(rows, pid) * 2
            i += len(rows)
        elif name in ("pid", "tid"):
            data += struct.pack("<I", pid)
        else:
            data += made_value(kind, i)
    return data


def made_payload(ident, pid, variant):
    if ident == 0x0020:
        return struct.pack("<II", 7, 3) + b"\x00\x80\xff" if variant == 0 else struct.pack("<II", 7, 0)
    fields = fields_of(TABLE[ident][1])
    if ident in (0x000c, 0x001a):
        more = FILE_FIELDS if ident == 0x000c else STAGE_FIELDS
        return made_fields(fields[:-1], pid) + struct.pack("<I", variant) + made_fields(fields_of(more.get(variant, "")), pid)
    data = made_fields(fields, pid)
    if ident == 0x0102 and variant == 1:
        data += made_fields(fields_of("type:s name:s control:Q"), pid)
    return data


def made_system(cpus, devices):
    data = struct.pack(f"<{2 * cpus}f", *([2400000.0] * cpus + [12.5] * cpus)) + struct.pack("<Q", 123456789)
    data += struct.pack("<I", 1) + struct.pack("<IfQQQQQ", 70, 1.5, 1, 2, 3, 4, 5) + struct.pack("<IIf", 1, 70, 1.5)
    data += struct.pack("<IIfIf", 2, 1, 0.5, 2, 0.25)
    return data + struct.pack(f"<{SYSTEM_TAIL + 2 * devices}I", *range(1, SYSTEM_TAIL + 2 * devices + 1))


VARIANTS = {0x000c: (0, 1, 2), 0x001a: (1, 2, 4, 5, 6), 0x0020: (0, 1), 0x0102: (0, 1)}


def payloads(pid=70, cpus=2, devices=3):
    """(id, payload) of every message of the tables, in each of its forms."""
    for ident in sorted([*TABLE, SYSTEM]):
        if ident == SYSTEM:
            yield ident, made_system(cpus, devices)
            continue
        for variant in VARIANTS.get(ident, (0,)):
            yield ident, made_payload(ident, pid, variant)


def stream(items, is_legacy=False, sequence=0, seconds=1700000000):
    data = b""
    for i, (ident, payload) in enumerate(items):
        words = (seconds, 1000 * i) if is_legacy else (1000 * i, seconds)
        data += struct.pack("<IIIII", ident, (sequence + i) & 0xffffffff, *words, len(payload)) + payload
    return data
