# A sound card for tests: a PulseAudio of one's own whose sinks play to nobody, and whose monitors
# can be recorded. Sourced after lib.sh.

# t_need_pulse: starts it, with the sinks "mic" (speak into it, mic.monitor is the microphone) and
# "speaker" (speaker.monitor is what was heard). Skips the whole test where there is none.
t_need_pulse() {
	for tool in pulseaudio pactl python3; do
		command -v "$tool" >/dev/null || t_skip_all "$tool is not installed"
	done
	t_pulse=$t_tmp/pulse
	mkdir -p "$t_pulse/home" "$t_pulse/run"
	t_setenv "PULSE_SERVER=unix:$t_pulse/socket"
	t_setenv "PULSE_RUNTIME_PATH=$t_pulse/run"
	t_tools pactl
	t_pulse_start || t_skip_all 'pulseaudio does not start'
}

t_pulse_start() {
	rm -f "$t_pulse/socket"
	t_start env -i HOME="$t_pulse/home" XDG_RUNTIME_DIR="$t_pulse/run" PATH="$PATH" pulseaudio -n \
		--daemonize=no --exit-idle-time=-1 --use-pid-file=no --disable-shm=yes \
		-L "module-native-protocol-unix socket=$t_pulse/socket auth-anonymous=1" \
		-L 'module-null-sink sink_name=speaker rate=48000 channels=2' \
		-L 'module-null-sink sink_name=mic rate=48000 channels=2' >"$t_pulse/log" 2>&1
	t_pulse_pid=$t_pid
	t_wait_for 20 t_pulse_answers
}

t_pulse_answers() {
	t_run pactl list short sinks 2>/dev/null | grep -q mic
}

# t_loud FILE.wav: "SECONDS FROM TO": how long it is, and where the first and last loud samples are.
t_loud() {
	python3 -c '
import array, sys, wave
w = wave.open(sys.argv[1])
rate = w.getframerate()
a = array.array("h", w.readframes(w.getnframes()))
loud = [i for i, x in enumerate(a) if abs(x) > 300] or [0]
print("%.3f %.3f %.3f" % (len(a) / rate, loud[0] / rate, loud[-1] / rate))' "$1"
}

# t_tone FILE.wav SECONDS
t_tone() {
	python3 -c '
import array, math, sys, wave
n = int(24000 * float(sys.argv[2]))
w = wave.open(sys.argv[1], "wb")
w.setnchannels(1), w.setsampwidth(2), w.setframerate(24000)
w.writeframes(array.array("h", (int(9000 * math.sin(i * 0.1152)) for i in range(n))).tobytes())' "$1" "$2"
}
