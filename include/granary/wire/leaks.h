/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the leak report that a process under `granary leaks` writes and that the command reads. This interface connects
 *    parts of Granary; other programs should read the output of `granary leaks --json`.
 * Invariant: each report is one file, PROCESS.NUMBER, in the folder that GRANARY_LEAKS names. The file gets this name
 *    only when it is complete. A process that looked and found nothing writes one, too: without it, the process was not
 *    watched.
 * Must not know: how leaks are found, and how they are shown.
 *
 * A report consists of lines. Words are separated by one space; COMMAND, REASON and FILE are the rest of their line.
 *
 *   granary-leaks VERSION
 *   process NUMBER COMMAND                  NUMBER is the process id
 *   failed REASON                           the process could not look for leaks; only `end` follows
 *   live BLOCKS BYTES                       blocks that something points to
 *   leak KIND BLOCKS BYTES STACK OWNER      a group of leaked blocks; KIND is direct or indirect. STACK numbers the
 *                                           stack that allocated them; 0 if it is not known. OWNER numbers the stack
 *                                           that allocated the direct leak from which they can be reached.
 *   stack NUMBER ORDINAL ADDRESS...         return addresses, the innermost call first. Stacks are counted from 1 in the
 *                                           order in which they were taken for the first time; that is the ORDINAL.
 *   module BASE BEGIN END BUILD-ID FILE     a loaded file: its load address, the range of its code, its build id or -
 *   unloaded LAST BASE BEGIN END BUILD-ID FILE
 *                                           a file that was unloaded after the stack with the ordinal LAST was taken.
 *                                           An address in several files belongs to the unloaded file with the lowest
 *                                           LAST that is not below the stack's ORDINAL; else to the loaded file.
 *   end
 *
 * BYTES are bytes. ADDRESS, BASE, BEGIN and END are hexadecimal numbers after 0x.
 */
#ifndef GRANARY_LEAKS_H
#define GRANARY_LEAKS_H

enum {
    GR_LEAKS_VERSION = 2,
    GR_LEAKS_SIGNAL = 63, /* a process that gets this signal writes a report now */
    /* A process looks for no leaks if its limit on address space or on data is at most so many GiB. */
    GR_LEAKS_SCARCE_GIB = 32,
};

#endif
