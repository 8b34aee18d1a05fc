-- Requests of benchmarks/serve.py for wrk: `wrk -s serve.lua URL -- FILE TEXTS`, with TEXTS lines of FILE in each request.

local lines, texts, place = {}, 1, 0

local function quoted(text)
  return '"' .. text:gsub('[%c"\\]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
end

function init(args)
  for line in io.lines(args[1]) do lines[#lines + 1] = quoted(line) end
  texts = tonumber(args[2])
  wrk.method, wrk.headers["Content-Type"] = "POST", "application/json"
end

function request()
  local chosen = {}
  for i = 1, texts do
    place = place % #lines + 1
    chosen[i] = lines[place]
  end
  return wrk.format(nil, nil, nil, '{"source":"en","target":"de","q":[' .. table.concat(chosen, ",") .. "]}")
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('{"requests": %d, "seconds": %.3f, "errors": %d, "p50_ms": %.1f, "p99_ms": %.1f}\n',
    summary.requests, summary.duration / 1e6, errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
