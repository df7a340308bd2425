// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/process/resident_ranges.hpp"

#include <algorithm>

namespace gr::tool {

double take_resident(const ProcessMemory &memory, const std::vector<Mapping> &mappings, std::vector<ByteRange> ranges,
                     std::vector<double> *accounted) {
    std::ranges::sort(ranges, {}, &ByteRange::begin);
    double sum = 0;
    for (std::size_t i = 0; i < mappings.size(); ++i) {
        const Mapping &mapping = mappings[i];
        if (mapping.resident == 0 || !mapping.name.empty()) continue;
        auto range = std::ranges::find_if(ranges, [&](const ByteRange &r) { return r.end > mapping.begin; });
        if (range == ranges.end() || range->begin >= mapping.end) continue;
        double in_mapping = 0;
        if (range->begin <= mapping.begin && range->end >= mapping.end) {
            in_mapping = static_cast<double>(mapping.resident);
        } else {
            const Pages pages = memory.pages(mapping);
            for (; range != ranges.end() && range->begin < mapping.end; ++range)
                in_mapping += pages.resident(range->begin, range->end);
        }
        sum += in_mapping;
        (*accounted)[i] += in_mapping;
    }
    return sum;
}

}  // namespace gr::tool
