#!/usr/bin/env python3
"""Sound for tests, where no model of speech is at hand.

    voice.py make FILE WORD…    a WAV: 'p1.5' is a pause of so many seconds, '3' is utterance 3
    voice.py stt LINES          a recogniser: a WAV on its input, that line of the file on its output
    voice.py tts LOG RATE       a voice: text on its input is added to the log, a WAV on its output
    voice.py sounds FILE        what is heard in a WAV: ding, processing, thinking, ready, error, speech
    voice.py seconds FILE       how long it is
    voice.py join FILE WAV…     one after the other; 'p1.5' is a pause

An utterance is noise, and its length says which one it is: so a recogniser needs to understand
nothing, and what is cut off of it is noticed.
"""
import array
import math
import os
import random
import struct
import sys
import wave

RATE = 16000
STEP = 0.15  # seconds by which utterances differ
SHORTEST = 0.4


def write(path, rate, samples):
    with wave.open(path, "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(rate)
        w.writeframes(samples.tobytes())


def read(path):
    """Also what says nothing of its length, as a program's output does."""
    data = sys.stdin.buffer.read() if path == "-" else open(path, "rb").read()
    at, rate = 12, RATE
    while data[at:at + 4] not in (b"data", b""):
        size = struct.unpack("<I", data[at + 4:at + 8])[0]
        if data[at:at + 4] == b"fmt ":
            rate = struct.unpack("<I", data[at + 12:at + 16])[0]
        at += 8 + size + size % 2
    body = data[at + 8:]
    return rate, array.array("h", body[:len(body) // 2 * 2])


def make(path, words):
    noise = random.Random(1)
    out = array.array("h")
    for word in words:
        if word[0] == "p":
            out.extend(noise.randrange(-8, 9) for _ in range(int(float(word[1:]) * RATE)))
        else:
            seconds = SHORTEST + STEP * (int(word) - 1)
            out.extend(noise.randrange(-12000, 12001) for _ in range(int(seconds * RATE)))
    write(path, RATE, out)


def stt(lines):
    rate, samples = read("-")
    peak = max((abs(s) for s in samples), default=0)
    # In pieces of 10 ms: noise is now and then quiet for a moment.
    piece = rate // 100
    loud = sum(max(map(abs, samples[i:i + piece])) > peak / 3 for i in range(0, len(samples), piece))
    which = round((loud / 100 - SHORTEST) / STEP) + 1
    said = open(lines, encoding="utf-8").read().splitlines()
    if os.environ.get("VOICE_STT_FAILS"):
        sys.exit("the recogniser is out of order")
    print(said[which - 1] if 0 < which <= len(said) else f"utterance {which}")


def tts(log, rate):
    text = sys.stdin.read().strip()
    with open(log, "a", encoding="utf-8") as f:
        f.write(text + "\n")
    n = int(rate * (0.1 + float(os.environ.get("VOICE_PACE", "0.004")) * len(text)))
    tone = array.array("h", (8000 if i // (rate // 600) % 2 else -8000 for i in range(n)))
    sys.stdout.buffer.write(struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + 2 * n, b"WAVE", b"fmt ", 16, 1, 1,
                                        rate, 2 * rate, 2, 16, b"data", 2 * n) + tone.tobytes())


TONES = (880, 660, 440, 330, 300, 220)
# How long one of them is within a sound: where two sounds meet there is no pause in a file.
LENGTH = {660: 0.15, 440: 0.1, 880: 0.1}
DING = 881


def tones(rate, samples):
    """The tones one after the other, by how often 20 ms of them cross zero."""
    piece, found = rate // 50, []
    for i in range(0, len(samples) - piece, piece):
        part = samples[i:i + piece]
        hz = 0
        if max(map(abs, part)) > 300:
            crossings = sum((a < 0) != (b < 0) for a, b in zip(part, part[1:])) * 25
            hz = min(TONES, key=lambda t: abs(t - crossings))
        if found and found[-1][0] == hz:
            found[-1][1] += 0.02
        else:
            found.append([hz, 0.02, []])
        found[-1][2].append(max(map(abs, part)))
    out = []
    for hz, seconds, peaks in found:
        dies = sum(peak < max(peaks) / 2 for peak in peaks) > len(peaks) / 4  # as a ding does; others are as loud to their end
        if hz == 880 and seconds >= 0.15 and dies:  # a ding, perhaps with the end or beginning of another sound
            out += [880, DING] if seconds >= 0.26 else [DING]
        elif hz and seconds >= 0.05:
            out += [hz] * max(1, round(seconds / LENGTH.get(hz, 9)))
    return out


def sounds(path):
    heard = tones(*read(path)) if os.path.exists(path) else []
    pairs = {(880, 660): "processing", (660, 880): "ready", (330, 220): "error"}
    single = {DING: "ding", 440: "thinking", 300: "speech"}
    out, i = [], 0
    while i < len(heard):
        pair = pairs.get(tuple(heard[i:i + 2]))
        name = pair or single.get(heard[i], f"{heard[i]}Hz")
        if not (name == "speech" and out and out[-1] == "speech"):
            out.append(name)
        i += 2 if pair else 1
    print(" ".join(out))


def resample(rate, samples):
    """To RATE, which is less: what is too high for it is taken out, or a recogniser hears it as something else."""
    step, taps = rate / RATE, 12
    phases = {}
    out = array.array("h")
    for i in range(int(len(samples) / step)):
        at, part = divmod(i * rate, RATE)
        if part not in phases:
            weights = []
            for k in range(-taps + 1, taps + 1):
                x = (k - part / RATE) / step
                weights.append((math.sin(math.pi * x) / (math.pi * x) if x else 1.0)
                               * (0.5 + 0.5 * math.cos(math.pi * (k - part / RATE) / taps)))
            phases[part] = [w / sum(weights) for w in weights]
        piece = samples[max(0, at - taps + 1):at + taps + 1]
        weights = phases[part][max(0, taps - 1 - at):]
        out.append(max(-32768, min(32767, round(sum(map(float.__mul__, weights, map(float, piece)))))))
    return out


def join(path, parts):
    out = array.array("h")
    for part in parts:
        if part[0] == "p" and part[1:].replace(".", "").isdigit():
            out.extend([0] * int(float(part[1:]) * RATE))
            continue
        rate, samples = read(part)
        out.extend(samples if rate == RATE else resample(rate, samples))
    write(path, RATE, out)


what, args = sys.argv[1], sys.argv[2:]
if what == "make":
    make(args[0], args[1:])
elif what == "stt":
    stt(args[0])
elif what == "tts":
    tts(args[0], int(args[1]))
elif what == "sounds":
    sounds(args[0])
elif what == "seconds":
    got = read(args[0])
    print(f"{len(got[1]) / got[0]:.2f}")
elif what == "join":
    join(args[0], args[1:])
