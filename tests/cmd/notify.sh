#!/bin/sh
# Desktop notices go over the session bus, when they are asked for and there is one.
. "$(dirname "$0")/../lib.sh"
for tool in dbus-daemon dbus-monitor; do
	command -v "$tool" >/dev/null || t_skip_all "$tool is not installed"
done
t_has_library 'libnotify\.so\.4' || t_skip_all 'libnotify is not installed'
cd "$t_home" || exit 1
bus=unix:path=$t_tmp/bus
t_start dbus-daemon --session --nofork --address="$bus" >/dev/null 2>&1
t_wait_for 10 test -S "$t_tmp/bus"
t_start env DBUS_SESSION_BUS_ADDRESS="$bus" dbus-monitor --session \
	"interface='org.freedesktop.Notifications'" >"$t_tmp/monitor"
t_wait_for 10 test -s "$t_tmp/monitor"
heard() { grep -q "$1" "$t_tmp/monitor"; }

t_setenv "DBUS_SESSION_BUS_ADDRESS=$bus"
t_exit 'a turn without notifications succeeds' 0 t_faden ask --agent rehearsal quiet please
sleep 1
t_unlike 'without asking for them there are no notifications' "$(cat "$t_tmp/monitor")" 'member=(Notify|GetServerInformation)'

t_setenv FADEN_NOTIFY_ENABLED=true
t_exit 'a turn with notifications succeeds' 0 t_faden ask --agent rehearsal hello bus
t_ok 'a turn reaches the notification service' t_wait_for 10 heard 'org.freedesktop.Notifications'
t_unsetenv DBUS_SESSION_BUS_ADDRESS
t_exit 'a turn without a bus succeeds' 0 t_faden ask --new --agent rehearsal nobody there
t_is 'a missing bus is not told' "$(cat "$t_err")" ''
t_done
