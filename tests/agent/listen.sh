#!/bin/sh
# faden listen with the real Claude Code against the scripted model: by voice, across a restart, a
# reset, a question for permission.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../cmd/voice.sh"
t_need_agents
t_model_start
t_claude_env
t_setenv FADEN_AI_AGENT=claude
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1

voice_says 'my cat is called Mia' '[[echo]] what did I say' 'Neue Konversation' Neustart
voice_make one.wav p1 1 p3
t_exit 'a spoken sentence is answered' 0 listen --input one.wav
t_ok 'the answer is spoken' test -s "$voice_spoken"
t_is 'the model was asked it' "$(t_model_query 'any("my cat is called Mia" in str(e["body"]["messages"]) for e in log)')" True
t_like 'the agent is told that it is listened to' "$(t_model_query '[str(e["body"].get("system")) for e in log if "my cat" in str(e["body"]["messages"])][0][-3000:]')" 'read aloud'
voice_make two.wav p1 2 p3
t_exit 'the next start goes on' 0 listen --input two.wav
t_like 'with the same conversation' "$(t_model_query '"my cat is called Mia" in str(log[-1]["body"]["messages"])')" True
voice_make reset.wav p1 3 p4 2 p3
t_exit 'a reset by voice' 0 listen --input reset.wav
t_like 'is a fresh conversation' "$(t_model_query '"my cat is called Mia" in str(log[-1]["body"]["messages"])')" False
voice_make restart.wav p1 1 p8 4 p8 2 p3
t_exit 'a restart by voice' 0 listen --new-session --input restart.wav
t_like 'goes on with the conversation' "$(t_model_query '"my cat is called Mia" in str(log[-1]["body"]["messages"])')" True
t_done
