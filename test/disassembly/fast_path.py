# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: counts the instructions of the fast paths that allocate and free in a shared library, looks at how wide their
#    stores are, and checks the restartable sequences: no call, no system call, one committing store, which ends
#    the sequence.
# Invariant: the sequences are found by their descriptors in the section __rseq_cs, as the kernel finds them.
# Must not know: names or labels of the sources, except those that allocate and free.
"""usage: fast_path.py LIBRARY ALLOCATES FREES MOST     MOST: instructions of both together
       fast_path.py LIBRARY SEVERAL                the sequences only, of which so many move several blocks in a loop"""
import collections
import re
import struct
import subprocess
import sys

LONGEST = 100
SIGNATURE = 0x53053053
MAY_STORE = (1, 2)  # who frees first fills the slot, which is private until the commit
LEAVES = ("ret", "jmp")
FORBIDDEN = re.compile(r"call|syscall|sysenter|int\b|int3|ud2|lock|xchg|cmpxchg|xadd|rep")
NARROW = re.compile(r"\b(BYTE|WORD) PTR")  # objdump puts a letter before it for what is wider
READS_ONLY = re.compile(r"cmp|test|lea|nop|prefetch|bt\b|push|j|call|ret|ucomis|comis")

Instruction = collections.namedtuple("Instruction", "address mnemonic operands target")
Sequence = collections.namedtuple("Sequence", "start end abort")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def disassemble(text):
    """address -> Instruction, in order, from objdump -d -M intel --no-show-raw-insn"""
    code = {}
    for line in text.splitlines():
        if found := re.match(r"\s+([0-9a-f]+):\s+((?:(?:lock|rep\w*|notrack|bnd) )*\S+)\s*(.*)$", line):
            target = re.match(r"([0-9a-f]+) <", found[3])
            address = int(found[1], 16)
            code[address] = Instruction(address, found[2], found[3], int(target[1], 16) if target else None)
    return code


def exported(text):
    """name -> address, from nm -D --defined-only; objdump names only one of several names of a place"""
    rows = (line.split() for line in text.splitlines())
    return {row[2].split("@")[0]: int(row[0], 16) for row in rows}


def following(code):
    ordered = sorted(code)
    return dict(zip(ordered, ordered[1:]))


def stores(instruction):
    first = instruction.operands.split(",")[0]
    return "[" in first and "fs:" not in first and not READS_ONLY.match(instruction.mnemonic)


def writes_rseq(instruction):
    first = instruction.operands.split(",")[0]
    return "fs:" in first and not READS_ONLY.match(instruction.mnemonic) and not first.endswith("+0x8]")


def fast_path(code, entry):
    """from the entry to the first ret, no conditional jump taken"""
    after, path, address = following(code), [], entry
    while len(path) <= LONGEST:
        instruction = code[address]
        path.append(instruction)
        if instruction.mnemonic == "ret":
            return path
        address = instruction.target if instruction.mnemonic == "jmp" else after[address]
        if address is None:
            break
    raise ValueError(f"no ret found along the fast path from {entry:#x}")


def has_loop(code, sequence):
    inside = [i for address, i in code.items() if sequence.start <= address < sequence.end]
    return any(i.target is not None and sequence.start <= i.target <= i.address for i in inside)


def ways(code, sequence):
    """every way through a sequence, as lists of instructions; a jump backwards inside it is an error"""
    after = following(code)
    pending = [(sequence.start, [])]
    while pending:
        address, way = pending.pop()
        if not sequence.start <= address < sequence.end:
            yield way
            continue
        instruction = code[address]
        way = way + [instruction]
        if instruction.target is not None and sequence.start <= instruction.target <= address:
            raise ValueError(f"{address:#x}: a loop inside a sequence")
        if instruction.mnemonic.startswith("j") and instruction.target is not None:
            pending.append((instruction.target, way))
        if instruction.mnemonic not in LEAVES:
            pending.append((after[address], way))
        elif instruction.target is None:
            yield way


def commits(code, sequence, instruction):
    return following(code)[instruction.address] == sequence.end and stores(instruction)


def rule_errors(code, sequence):
    """what holds for every sequence, also for those that move several blocks in a loop"""
    where = f"sequence at {sequence.start:#x}"
    inside = [i for address, i in code.items() if sequence.start <= address < sequence.end]
    for i in inside:
        if FORBIDDEN.match(i.mnemonic) or i.mnemonic == "ret":
            yield f"{where}: {i.address:#x} {i.mnemonic}, which may not be inside one"
        if writes_rseq(i):
            yield f"{where}: {i.address:#x} writes a field of rseq that is the kernel's"
    if not inside or not commits(code, sequence, inside[-1]):
        yield f"{where}: does not end in a store"


def store_errors(code, sequence, may_store):
    """what holds for those of one block: a bounded number of stores on each way, the last of them the commit"""
    where = f"sequence at {sequence.start:#x}"
    for way in ways(code, sequence):
        written = [i for i in way if stores(i)]
        committed = commits(code, sequence, way[-1])
        if committed and len(written) > may_store:
            yield f"{where}: {len(written)} stores on one way, at most {may_store}"
        if not committed and len(written) > may_store - 1:
            yield f"{where}: a way leaves it after {len(written)} stores, without the commit"


def width_errors(path):
    """what malloc leaves is what free loads next, and some processors hand less than 32 bits over slowly"""
    for i in path:
        if stores(i) and NARROW.search(i.operands):
            yield f"{i.address:#x}: {i.mnemonic} {i.operands} stores less than 32 bits on a fast path"


def sections(library):
    rows = (re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)", line)
            for line in run("readelf", "-SW", library).splitlines())
    return {row[1]: tuple(int(row[i], 16) for i in (2, 3, 4)) for row in rows if row}


def sequences(library):
    """the descriptors: version, flags, start, length, abort; start and abort are relocated, so read them there"""
    address, offset, size = sections(library).get("__rseq_cs", (0, 0, 0))
    relocated = {int(place, 16): int(value, 16) for place, value in
                 re.findall(r"^([0-9a-f]+)\s+\S+\s+R_X86_64_RELATIV\S*\s+([0-9a-f]+)", run("readelf", "-rW", library), re.M)}
    with open(library, "rb") as file:
        data = file.read()
    for at in range(0, size - 31, 32):
        version_flags, _, length, _ = struct.unpack_from("<4Q", data, offset + at)
        if version_flags or not length:
            continue  # padding, or no descriptor: both are found out, as the number of sequences is checked
        start, abort = relocated[address + at + 8], relocated[address + at + 24]
        yield Sequence(start, start + length, abort), signature_before(data, library, abort)


def signature_before(data, library, address):
    for start, offset, size in sections(library).values():
        if start and start <= address - 4 < start + size:
            return struct.unpack_from("<I", data, offset + address - 4 - start)[0]
    raise ValueError(f"abort address {address:#x} lies in no section")


def main():
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    library, *names, number = sys.argv[1:]
    most = int(number) if names else LONGEST
    code = disassemble(run("objdump", "-d", "-M", "intel", "--no-show-raw-insn", library))
    at = exported(run("nm", "-D", "--defined-only", library))
    found, errors, total = list(sequences(library)), [], 0
    for name, may_store in zip(names, MAY_STORE):
        path = fast_path(code, at[name])
        total += len(path)
        print(f"{name}: {len(path)} instructions\n" + "".join(f"    {i.mnemonic} {i.operands}\n" for i in path))
        mine = [s for s, _ in found if any(s.start <= i.address < s.end for i in path)]
        if not mine:
            errors.append(f"{name}: no sequence on its fast path")
        errors += [error for s in mine for error in store_errors(code, s, may_store)]
        errors += [f"{name}: {i.mnemonic} on the fast path" for i in path if FORBIDDEN.match(i.mnemonic)]
        errors += width_errors(path)
    if not found:
        errors.append("no sequence in the library")
    for sequence, signature in found:
        errors += rule_errors(code, sequence)
        if not names and not has_loop(code, sequence):
            errors += store_errors(code, sequence, max(MAY_STORE))
        if signature != SIGNATURE:
            errors.append(f"sequence at {sequence.start:#x}: signature {signature:#x} before its abort address")
    print((f"{' and '.join(names)}: {total} instructions, at most {most}; " if names else "") + f"{len(found)} sequences")
    several = sum(has_loop(code, sequence) for sequence, _ in found)
    if not names and several != int(number):
        errors.append(f"{several} sequences have a loop, not {number}")
    if total > most:
        errors.append(f"{total} instructions, at most {most}")
    print("\n".join(dict.fromkeys(errors)))
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
