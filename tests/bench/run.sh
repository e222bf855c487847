#!/usr/bin/env bash
# Starts a sizer of its own and measures what requests cost it, as a Markdown table on standard output. Each row is held
# against the constant reply (GET /livez) measured right before it: on a shared machine only such ratios mean anything.
# usage: run.sh PROGRAM
#   BENCH_SECONDS      of each measurement, default 3
#   BENCH_CONNECTIONS  default 32
#   DATABASE_URL       as sizer takes it; unset: the built-in catalog
set -euo pipefail

command -v wrk >/dev/null || { echo 'wrk is missing: make deps LEVEL=ci' >&2 && exit 1; }
program=$(realpath "$1")
seconds=${BENCH_SECONDS:-3}
connections=${BENCH_CONNECTIONS:-32}
folder=$(dirname "$(realpath "$0")")
tick=$(getconf CLK_TCK)

port=$((20000 + RANDOM % 12000))
url=http://127.0.0.1:$port
SIZER_LISTEN=127.0.0.1:$port "$program" >/dev/null 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 100); do
    ! curl -sf -o /dev/null "$url/readyz" || break
    kill -0 $server 2>/dev/null || { echo "sizer did not start on port $port" >&2 && exit 1; }
    sleep 0.1
done

# CPU the server has used so far, in clock ticks (utime and stime: the 14th and 15th word, the name aside).
ticks() {
    sed 's/.*) //' "/proc/$server/stat" | awk '{ print $12 + $13 }'
}

# measure PATH [BODY] [HEADER]: requests a second, CPU microseconds a request, p50 and p99 in microseconds, errors.
measure() {
    local before after
    before=$(ticks)
    BENCH_BODY=${2:-} BENCH_HEADER=${3:-} wrk --threads 2 --connections "$connections" --duration "${seconds}s" \
        --latency --script "$folder/request.lua" "$url$1" >"$output"
    after=$(ticks)
    awk -v ticks=$((after - before)) -v tick="$tick" '$1 == "figures" {
        printf "%.0f %.2f %d %d %d\n", $2 / $3, $2 ? ticks / tick * 1e6 / $2 : 0, $4, $5, $6 }' "$output"
}

row() {
    local what=$1 constant measured
    shift
    constant=$(measure /livez)
    measured=$(measure "$@")
    awk -v what="$what" -v constant="${constant%% *}" -v rss="$(awk '/^VmRSS/ { print $2 }' "/proc/$server/status")" '{
        printf "| %s | %d | %.2f | %.1f | %.1f | %.1f | %d | %.0f |\n", what, $1, $1 / constant, $2, $3 / 1000, $4 / 1000,
            $5, rss / 1024 }' <<<"$measured"
}

output=$(mktemp)
trap 'rm -f "$output"; kill $server 2>/dev/null || true' EXIT
etag=$(curl -sf -o /dev/null -D - "$url/catalog/gpus" | tr -d '\r' | awk 'tolower($1) == "etag:" { print $2 }')

echo "$(date -u +%F), $(nproc) cores, $connections connections, $seconds s each"
echo
echo '| request | a second | of the constant reply | CPU µs each | p50 ms | p99 ms | errors | RSS MiB |'
echo '|---|---|---|---|---|---|---|---|'
row 'GET /livez (constant)' /livez
row "POST /estimate, $(wc -c <"$folder/estimate.json") bytes, a preset" /estimate "$folder/estimate.json"
row "POST /estimate, $(wc -c <"$folder/estimate_config.json") bytes, a pasted config.json" \
    /estimate "$folder/estimate_config.json"
row 'GET /catalog/gpus, one page' /catalog/gpus
row 'GET /catalog/prices, the whole list as NDJSON' /catalog/prices '' 'Accept: application/x-ndjson'
row 'GET /catalog/gpus, 304' /catalog/gpus '' "If-None-Match: $etag"
row 'POST /recommend' /recommend "$folder/recommend.json"
