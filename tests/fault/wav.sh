#!/bin/sh
# A WAV that is being written under storage faults and kills: at every step what is there can be
# played, and is the beginning of what was written.
. "$(dirname "$0")/../lib.sh"
t_need_faults 1
. "$(dirname "$0")/sweep.sh"
sound=$t_build/tests/sound
python3 -c '
import array, sys, wave
w = wave.open(sys.argv[1], "wb")
w.setnchannels(1), w.setsampwidth(2), w.setframerate(16000)
w.writeframes(array.array("h", (i % 3000 + 1 for i in range(2000))).tobytes())' "$t_tmp/in.wav"

restore() { rm -f "$t_tmp/out.wav"; }
copy() { t_run "$sound" play wav "$t_tmp/out.wav" "$t_tmp/in.wav"; }
look() {
	python3 - "$t_tmp/in.wav" "$t_tmp/out.wav" "$t_rc" "$1" <<'END'
import os, sys, wave
source, target, status, name = sys.argv[1:]
whole = wave.open(source).readframes(2000)
if not os.path.exists(target) or os.path.getsize(target) < 44:
    if status == "0":
        print(name + ": said done, and is not there")
    sys.exit()
got = wave.open(target).readframes(2000)
if not whole.startswith(got):
    print(name + ": not what was written")
if status == "0" and got != whole:
    print(name + ": said done, and is not")
# Only the samples of the last write may be missing from what the header counts.
if os.path.getsize(target) - 44 - len(got) > 4096:
    print(name + ": the header is late")
END
	[ "$killed" = 1 ] || [ "$t_rc" = 0 ] || grep -q 'out.wav' "$t_err" ||
		echo "$1: failed without a word"
}
sweep 'a recording, killed' copy look FADEN_FAULT_KILL=1 FADEN_FAULT_MATCH=out.wav
sweep 'a recording, a call fails' copy look FADEN_FAULT_ERRNO=EIO FADEN_FAULT_MATCH=out.wav
sweep 'a recording, the disk is full' copy look FADEN_FAULT_ERRNO=ENOSPC FADEN_FAULT_STICKY=1 FADEN_FAULT_MATCH=out.wav
sweep 'a recording, half a write' copy look FADEN_FAULT_SHORT=1 FADEN_FAULT_MATCH=out.wav
t_done
