#!/bin/sh
# Runs test programs one after the other, each given a time limit, and ends with how many passed.
# usage: run.sh PROGRAM...
set -u

passed=0
failed=0
failures=
for program in "$@"; do
    if timeout --kill-after=10 "${TEST_SECONDS:-600}" "$program"; then
        passed=$((passed + 1))
    else
        echo "FAILED: $program (exit code $?)"
        failed=$((failed + 1))
        failures="$failures $program"
    fi
done
[ -z "$failures" ] || printf 'failed:%s\n' "$failures"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
