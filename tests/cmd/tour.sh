#!/bin/sh
# The tour of the README: every command of it is run, and what it shows is what comes, word for word
# but for ids, figures and the folder of a session.
# shellcheck disable=SC2154 # variables of lib.sh
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/p
mkdir -p "$here" && cd "$here" || exit 1
t_tools cut script
# The session of Claude Code that the tour is about, and a program of that name to hand over to.
id=$(sed -n 's/^      from  *//p' "$t_root/README.md")
folder=$t_home/.claude/projects/$(printf %s "$here" | tr -c 'a-zA-Z0-9' -)
mkdir -p "$folder"
python3 "$t_helper/usage-session" "$folder/$id.jsonl" "$id" "$here" 20 4000 60000
# Another, of another project, that the search of the tour looks for.
"$t_helper/say-session" "$folder-2/4f1c0000-0000-4000-8000-000000000002.jsonl" \
	4f1c0000-0000-4000-8000-000000000002 "$t_tmp/q" 2026-03-10T10:00:00Z <<'END'
user Please change the retry limit of the payment client to seven
assistant The retries are limited to seven now
END
ln -s "$FADEN" "$t_bin/faden" # by its name also for the programs of the tour
printf '#!/bin/sh\nexit 0\n' >"$t_bin/claude"
chmod +x "$t_bin/claude"
# smart-trim asks an agent: here one that only answers.
printf '*\nsay {"trim":[{"number":3,"reason":"r","summary":"s"}]}\n' >"$t_tmp/script"

# The tour as "COMMAND" lines with what they show behind them, each in files of its own.
awk -v to="$t_tmp" '
	/^## / { tour = /^## A tour$/ }
	!tour || !/^(    |$)/ { open = 0; next }
	/^    \$ / { n++; open = 1; line = substr($0, 7); sub(/  +#.*/, "", line)
		print line > (to "/command." n); printf "" > (to "/shown." n); next }
	open && /^$/ { blank[n]++; next }
	open { for (; blank[n] > 0; blank[n]--) print "" >> (to "/shown." n)
		print substr($0, 5) >> (to "/shown." n) }
	END { print n > (to "/commands") }' "$t_root/README.md"

# plain: without what differs from one run to the next.
plain() {
	sed -E 's/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/ID/g
		s#/projects/[^/]*/#/projects/DIR/#; s/[0-9][0-9.,]* (B|kB|MB)/SIZE/g; s/[0-9][0-9.,]*[0-9]/N/g
		s/\((fitted|assumed)\)/(SURE)/'
}
# same: what came is what is shown; "…" stands for the rest of a line, or of the output.
same() {
	python3 - "$1" "$2" <<-'END'
		import sys
		shown = open(sys.argv[1]).read().splitlines()
		came = open(sys.argv[2]).read().splitlines()
		for line in shown:
		    if line == "…":
		        sys.exit(0)
		    got = came.pop(0) if came else "nothing"
		    if line != got and not (line.endswith("…") and got.startswith(line[:-1])):
		        sys.exit(f"shown: {line}\ncame:  {got}")
		if came:
		    sys.exit(f"not shown: {came[0]}")
	END
}

total=$(cat "$t_tmp/commands")
t_ok 'the tour has commands' test "$total" -gt 12
n=1
while [ "$n" -le "$total" ]; do
	command=$(cat "$t_tmp/command.$n")
	case $command in
	*recall*) # the first original of the copy that was just made
		ref=$(grep -oh 'faden recall [0-9a-f]*' "$folder"/*.jsonl | head -n 1 | cut -d ' ' -f 3)
		command=$(printf '%s' "$command" | sed -E "s/[0-9a-f]{16}/$ref/")
		;;
	*'archive restore'*) # the session of the tour, as if the agent had deleted it
		rm "$folder/$id.jsonl"
		command=$(printf '%s' "$command" | sed -E "s/4f1c/${id%%-*}/")
		;;
	*' clean '*) command="$command --dry-run" ;; # the tour needs its session still
	# They want models, a microphone and somebody who speaks: tests/voice and cmd/listen have those.
	*'faden voice '* | *'faden listen'*) command="$command --help" ;;
	*smart-trim*)
		t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
		t_setenv 'FADEN_AI_AGENT=rehearsal'
		;;
	esac
	printf '%s\n' "$command" >"$t_tmp/tour"
	name=$(printf '%s' "$command" | tr -d '\\') # which echo would read
	case $command in # it hands over a terminal
	'faden resume'*) set -- script -qec "sh $t_tmp/tour" /dev/null ;;
	*) set -- sh "$t_tmp/tour" ;;
	esac
	t_run "$@" >"$t_tmp/came" 2>&1 </dev/null
	status=$?
	case $command in *KILL*) status=$((status - 137)) ;; esac
	t_is "the tour: $name" "$status" 0
	[ -z "${T_KEEP-}" ] || cat "$t_tmp/came"
	t_unsetenv FADEN_AI_AGENT
	t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
	if [ -s "$t_tmp/shown.$n" ]; then
		plain <"$t_tmp/shown.$n" >"$t_tmp/shown"
		plain <"$t_tmp/came" >"$t_tmp/plain"
		t_ok "what it shows comes: $name" same "$t_tmp/shown" "$t_tmp/plain"
	fi
	n=$((n + 1))
done

# What the text names is there.
for word in $(grep -oE '`faden [a-z-]+' "$t_root/README.md" | sed 's/.* //' | sort -u); do
	t_exit "faden $word of the README is a command" 0 t_faden "$word" --help
done
t_done
