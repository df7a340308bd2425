# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: an awk program that reckons what a trace of allocations would cost under three ways to lay out blocks.
# Invariant: reads "+ id size site" and "- id"; prints one row for each site, sorted, and the totals.
# Must not know: the allocator that awk itself runs on.
BEGIN {
    split("exact powers eighths", ways)
    steps["exact"] = 31   # a search through unlike blocks
    steps["powers"] = 9   # a list for each power of two
    steps["eighths"] = 14 # eight lists for each power of two
}

$1 == "+" {
    size_of[$2] = $3
    site_of[$2] = $4
    requests[$4]++
    asked[$4] += $3
    for (w in ways) take(ways[w], $2, $3, $4)
}

$1 == "-" {
    for (w in ways) give(ways[w], $2)
    delete size_of[$2]
    delete site_of[$2]
}

END {
    count = asorti(requests, sites)
    for (i = 1; i <= count; i++) print row(sites[i])
    for (w = 1; w <= 3; w++)
        print total(ways[w])
}

function power_at_least(size,    power) {
    for (power = 16; power < size; power *= 2);
    return power
}

function block_size(way, size,    step) {
    if (way == "exact") return int((size + 8 + 15) / 16) * 16
    if (way == "powers") return power_at_least(size)
    step = power_at_least(size) / 16
    if (step < 16) step = 16
    return int((size + step - 1) / step) * step
}

# A block comes from the list of its size, or fresh, at twenty times the price.
function take(way, id, size, site,    block) {
    block = block_size(way, size)
    if (list[way, block] > 0) {
        list[way, block]--
        work[way] += steps[way]
    } else {
        fresh[way]++
        work[way] += 20 * steps[way]
    }
    used[way, site] += block
    held[way] += block
    if (held[way] > peak[way]) peak[way] = held[way]
}

function give(way, id,    block) {
    block = block_size(way, size_of[id])
    list[way, block]++
    work[way] += steps[way]
    held[way] -= block
}

function total(way) {
    return sprintf("%-8s steps %d fresh %d peak %d left %d", way, work[way], fresh[way], peak[way], held[way])
}

function row(site,    text, w) {
    text = sprintf("%-14s %7d %10d", site, requests[site], asked[site])
    for (w = 1; w <= 3; w++) text = text sprintf(" %6.3f", used[ways[w], site] / asked[site])
    return text
}
