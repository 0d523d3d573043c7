#!/bin/sh
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/conformance.sh"
conformance rehearsal
