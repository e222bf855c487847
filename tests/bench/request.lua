-- wrk: one request over and over, described by environment variables, and a line of figures at the end.
--   BENCH_BODY    file to POST as JSON; unset: GET
--   BENCH_HEADER  one more header, "Name: value"
local file_name = os.getenv("BENCH_BODY")
local header = os.getenv("BENCH_HEADER")

if file_name and file_name ~= "" then
    local file = assert(io.open(file_name, "rb"))
    wrk.method = "POST"
    wrk.body = file:read("*a")
    wrk.headers["Content-Type"] = "application/json"
    file:close()
end
if header and header ~= "" then
    local name, value = header:match("^([^:]+):%s*(.*)$")
    wrk.headers[name] = value
end

function done(summary, latency, requests)
    local errors = summary.errors
    io.write(string.format("figures %d %.6f %.0f %.0f %d\n", summary.requests, summary.duration / 1e6,
        latency:percentile(50), latency:percentile(99),
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
