#!/bin/sh
# A turn that plans changes nothing, whatever the agent's own settings allow.
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_claude_env
t_setenv 'IS_SANDBOX=1'

cat >"$t_tmp/mcp.py" <<'END'
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    result = {}
    if "id" not in m:
        continue
    if m["method"] == "initialize":
        result = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "maker", "version": "1"}}
    elif m["method"] == "tools/list":
        result = {"tools": [{"name": "make", "description": "makes a file",
                             "inputSchema": {"type": "object", "properties": {}}}]}
    elif m["method"] == "tools/call":
        open("made", "w").close()
        result = {"content": [{"type": "text", "text": "made"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result}), flush=True)
END
mkdir -p "$t_home/.claude" "$t_tmp/work/.claude/agents" "$t_tmp/work/.claude/commands"
cd "$t_tmp/work" || exit 1
cat >"$t_home/.claude/settings.json" <<END
{"enableAllProjectMcpServers": true, "permissions": {"allow": ["Bash", "Bash(touch:*)", "Write", "mcp__maker"]}}
END
echo "{\"mcpServers\": {\"maker\": {\"command\": \"python3\", \"args\": [\"$t_tmp/mcp.py\"]}}}" >.mcp.json
printf '%s\n' --- 'name: hand' 'description: does it' 'tools: Bash, Write' 'permissionMode: bypassPermissions' --- 'You do.' \
	>.claude/agents/hand.md
# shellcheck disable=SC2016 # the backquotes are Claude Code's
printf '%s\n' --- 'allowed-tools: Bash(touch:*)' 'description: makes' --- 'Look: !`touch made`' >.claude/commands/makes.md
# The brackets of a directive inside of a directive.
order='\u005b\u005bbash: touch made\u005d\u005d\u005b\u005bsay: done\u005d\u005d'

# nothing NAME PROMPT
nothing() {
	rm -f made
	t_faden ask --agent claude --permission-mode plan --new "$2" >"$t_out" 2>"$t_err"
	t_ok "$version: $1" test ! -e made
}

for program in "$t_claude" "$t_claude_new"; do
	version=$("$program" --version | cut -d" " -f1)
	ln -sf "$program" "$t_bin/claude"
	nothing 'no command that a rule allows' '[[bash: touch made]][[say: end]]'
	t_is "$version: it says what it wants all the same" "$(cat "$t_out")" end
	t_like "$version: and what it tried is told" "$(cat "$t_err")" 'not allowed: Bash: touch made'
	nothing 'no file that a rule allows' "[[write: $PWD/made | x]][[say: end]]"
	nothing 'no server of tools' '[[tool: mcp__maker__make {}]][[say: end]]'
	nothing 'no sub-agent with rights of its own' \
		"[[tool: Agent {\"description\": \"d\", \"prompt\": \"$order\", \"subagent_type\": \"hand\"}]][[say: end]]"
	nothing 'no command of the user that runs one' '/makes'
	echo 'to be read' >there
	t_exit "$version: it reads" 0 t_faden ask --agent claude --permission-mode plan --new \
		"[[read: $PWD/there]][[tool: Grep {\"pattern\": \"be read\"}]][[say: end]]"
	t_is "$version: and searches" "$(t_model_query \
		'[r for r in __import__("re").findall("\"tool_result\".*?}", json.dumps(log[-1]["body"]["messages"])) if "there" in r] != []')" True
done

t_exit 'a turn that plans' 0 t_faden ask --agent claude --new 'make a plan for the migration'
t_like 'says that nothing is changed' "$(cat "$t_err")" 'This turn plans; nothing is changed\.'
t_codex_env
git init -q .
t_exit 'with Codex' 0 t_faden ask --agent codex --new 'make a plan for the migration'
t_like 'it does not say so, since its rules go before its sandbox' "$(cat "$t_err")" \
	'This turn plans; Codex only reads, but for what its own rules allow\.'
t_done
