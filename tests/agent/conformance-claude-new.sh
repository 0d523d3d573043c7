#!/bin/sh
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/conformance.sh"
t_need_agents
t_model_start --limit 900000
t_claude_env
conformance claude "$t_claude_new"
