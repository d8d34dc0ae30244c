#!/bin/bash
# Runs an example in a fresh directory, with a task file and where to put traces as its arguments.
# Usage: run-example.sh PROGRAM
set -eu
program=$(realpath "$1")
export COVE_GUEST=${COVE_GUEST:-${COVE_BUILD:-$(dirname "$program")/../..}/cove-guest}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"prompt":"hello"}' >tasks.jsonl
"$program" tasks.jsonl traces.jsonl
