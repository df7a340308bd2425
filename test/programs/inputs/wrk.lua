-- SPDX-License-Identifier: Apache-2.0 OR MIT
-- What: the requests that wrk sends to nginx, one page after the other, until so many are answered.
-- Invariant: "answered" is printed, and wrk ends with code 0, only after that many replies with status 200.
-- Must not know: the allocator.
local paths = { "/small.html", "/page.html", "/file.bin", "/small.html?name=value&other=42" }
local requests, turn = {}, 0
local left

function init(arguments)
    left = tonumber(arguments[1])
    for number, path in ipairs(paths) do
        requests[number] = wrk.format("GET", path, { ["Accept-Encoding"] = "gzip", ["User-Agent"] = "wrk" })
    end
end

function request()
    turn = turn % #requests + 1
    return requests[turn]
end

function response(status)
    if status ~= 200 then
        print("status " .. status)
        os.exit(1)
    end
    left = left - 1
    if left == 0 then
        print("answered")
        os.exit(0)
    end
end
