// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a transaction stores at once no more words than a commit record holds (parts/lfmalloc/transactions.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: a commit record has no room for so many stores
#include "parts/lfmalloc/transactions.hpp"

using namespace gr::lab;

bool all_are_stored(Transaction &transaction, void *word) {
#ifdef CONTROL
    return transaction.store_all({{word, 1}, {word, 2}, {word, 3}});
#else
    return transaction.store_all({{word, 1}, {word, 2}, {word, 3}, {word, 4}});
#endif
}
