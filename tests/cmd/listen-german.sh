#!/bin/sh
# faden listen in German with the real models: reset, restart and "Stopp", heard by the recogniser.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/voice.sh"
t_need_voice
VOICE=de
# A voice of espeak-ng is no person: only what the recogniser understands of it is said here.
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1
sessions() { find "$t_home/.local/state/faden/rehearsal" -name '*.jsonl' 2>/dev/null | wc -l; }
german() { t_faden listen --no-tty --lang de --output "$t_tmp/out.wav" "$@"; }

voice_speak reset.wav p1.5 'Hey Jarvis' p1 'Wie spät ist es?' p7 'Hey Jarvis' p1 'Von vorne.' p6 'Hey Jarvis' p1 'Wie spät ist es?' p4
t_exit 'a talk with a reset' 0 german --input reset.wav
t_is 'the reset is understood and confirmed' "$(grep -c 'Jarvis: Alles klar, ich starte eine neue Konversation\.$' "$t_out")" 1
t_is 'what is said after it begins a new conversation' "$(sessions)" 2

printf 'say Das ist ein langer Satz, der nicht so bald aufhört. Und das ist noch ein langer Satz, der nicht aufhört. Und noch ein dritter langer Satz, der lange nicht aufhört.\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
voice_speak stop.wav p1.5 'Hey Jarvis' p1 'Wie spät ist es?' p6 'Stopp.' p5
t_exit 'a talk in which it is told to stop, without a call' 0 german --new-session --input stop.wav
t_like '"Stopp" is heard while it speaks' "$(cat "$t_out")" 'Jarvis: Abgebrochen\.$'
log=$t_home/.local/state/faden/faden.log
quiet=$(sed -n 's/.*a pause, quiet within \([0-9]*\) samples at 24000 Hz.*/\1/p' "$log" | tail -n 1)
t_ok "it was quiet before it was understood (${quiet:-no} samples)" test "${quiet:-9999}" -le 480

printf 'say Gut.\n' >"$t_tmp/script"
before=$(sessions)
voice_speak restart.wav p1.5 'Hey Jarvis' p1 'Wie spät ist es?' p5 'Hey Jarvis' p1 'Neustart.' p6 'Hey Jarvis' p1 'Wie spät ist es?' p4
t_exit 'a talk with a restart' 0 german --new-session --input restart.wav
t_like 'the restart is understood and confirmed' "$(cat "$t_out")" 'Jarvis: Alles klar, ich starte jetzt neu\.$'
t_is 'it comes back listening' "$(grep -c 'You: ' "$t_out")" 3
t_is 'in the same conversation' "$(sessions)" "$((before + 1))"
t_done
