/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What:      how processes under `granary leaks` tell the command what they found. An interface of Granary's own parts.
 * Invariant: a report is a file of its own in the folder that GRANARY_LEAKS names, PROCESS.NUMBER, which appears whole.
 * Must not know: how leaks are found, and how they are shown.
 *
 * A report consists of lines of words, apart by one space; a text is the rest of its line:
 *
 *   granary-leaks VERSION
 *   process NUMBER COMMAND
 *   failed REASON                           nothing was found out
 *   live BLOCKS BYTES                       of what something points to
 *   leak KIND BLOCKS BYTES STACK OWNER      KIND is direct or indirect; OWNER is the stack of the direct one that
 *                                           the blocks hang on
 *   stack NUMBER ADDRESS...                 where calls go on, the innermost first
 *   module BASE BEGIN END BUILD-ID FILE     by how much it was moved, where its code lies; - for no build id
 *   end
 *
 * Addresses, and what they begin and end, are in hexadecimal after 0x.
 */
#ifndef GRANARY_LEAKS_H
#define GRANARY_LEAKS_H

enum {
    GR_LEAKS_VERSION = 1,
    GR_LEAKS_SIGNAL = 63, /* asks a process for a report now */
};

#endif
