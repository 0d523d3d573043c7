#!/bin/sh
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/conformance.sh"
t_need_agents
t_model_start --limit 900000
t_codex_env
conformance codex "$t_codex"
