// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that uses up the kernel's table of mappings, then allocates and frees, large blocks too.
// Invariant: a refusal is NULL and ENOMEM, nothing crashes, and when the mappings are gone every size is granted.
// Must not know: how many mappings the library uses.
#include <sys/mman.h>

#include <memory>

#include "patient.hpp"

using namespace gr::test;

namespace {

constexpr size_t kMostMappings = 1 << 20;  // beyond that a full table costs too much memory
constexpr size_t kRoom = 130;

size_t mappings_allowed() {
    FILE *file = std::fopen("/proc/sys/vm/max_map_count", "re");
    size_t count = 0;
    if (file == nullptr || std::fscanf(file, "%zu", &count) != 1)
        fail("/proc/sys/vm/max_map_count: cannot be read: %s", std::strerror(errno));
    std::fclose(file);
    return count;
}

// A row of pages whose protections alternate, so that each is a mapping of its own.
class Stripes {
  public:
    explicit Stripes(size_t most) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))), most_(most) {
        void *area = mmap(nullptr, most * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (area == MAP_FAILED) fail("mmap of %zu pages: %s", most, std::strerror(errno));
        area_ = static_cast<char *>(area);
    }
    Stripes(const Stripes &) = delete;
    Stripes &operator=(const Stripes &) = delete;

    // Each step splits one mapping into three. Returns false when the kernel allows no more.
    bool split(size_t mappings) {
        for (; made_ < mappings && made_ + 2 < most_; made_ += 2)
            if (mprotect(area_ + (made_ + 1) * page_, page_, PROT_READ) != 0) return false;
        return true;
    }

    size_t made() const { return made_; }

    void remove() {
        if (munmap(area_, most_ * page_) != 0) fail("munmap of the stripes: %s", std::strerror(errno));
    }

  private:
    size_t page_;
    size_t most_;
    char *area_;
    size_t made_ = 0;
};

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    const size_t turns = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000000;
    const size_t allowed = mappings_allowed();
    if (allowed > kMostMappings) {
        dprintf(STDOUT_FILENO, "full table: skipped: vm.max_map_count is %zu\n", allowed);
        return kSkipped;
    }
    alarm(110);
    const auto patient = std::make_unique<Patient>(1);
    patient->churn(1000, kSizeCount);
    Stripes stripes(allowed + 1000);
    if (!stripes.split(allowed - kRoom))
        dprintf(STDOUT_FILENO, "full table: full at %zu mappings already\n", stripes.made());
    patient->churn(turns - turns / 10, kSizeCount);
    const uint64_t nearly_full = patient->refusals();
    if (stripes.split(allowed + 900)) fail("the kernel allows more mappings than vm.max_map_count says");
    patient->churn(turns / 10, kSizeCount);
    const uint64_t full = patient->refusals() - nearly_full;
    stripes.remove();
    patient->free_all();
    if (!every_size_is_granted()) fail("the mappings are gone, yet memory is still refused: %s", std::strerror(errno));
    if (const std::optional<gr_statistics> taken = statistics()) require_counting_equation(*taken);
    dprintf(STDOUT_FILENO, "full table: %zu operations, %lu refusals with room for %zu mappings, %lu with none\n",
            turns, nearly_full, kRoom, full);
}
