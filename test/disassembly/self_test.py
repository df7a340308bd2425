# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the test of fast_path.py: a good sequence passes, and each broken one is found out.
# Invariant: the listings have the form that objdump prints.
# Must not know: the library.
import fast_path

GOOD = ["mov QWORD PTR fs:[rax+0x8],rdx", "mov ecx,DWORD PTR fs:[rax+0x18]", "cmp ecx,DWORD PTR [rdi]",
        "je {out}", "mov QWORD PTR [rcx+rdx*8],rdi", "inc DWORD PTR [rcx]", "ret"]


def listing(lines):
    body = [f"    {0x10 + at:x}:\t{line.format(out='99 <slow>', back='11 <push+1>')}" for at, line in enumerate(lines)]
    return fast_path.disassemble("\n".join(["0000000000000010 <push>:", *body, "    99:\tnop", "    9a:\tret"]))


def loops_in(lines):
    return fast_path.has_loop(listing(lines), fast_path.Sequence(0x11, 0x16, 0x99))


def errors_of(lines, start=1, end=6, may_store=2):
    code = listing(lines)
    assert len(fast_path.fast_path(code, 0x10)) == len(lines)
    sequence = fast_path.Sequence(0x10 + start, 0x10 + end, 0x99)
    return [*fast_path.rule_errors(code, sequence), *fast_path.store_errors(code, sequence, may_store),
            *fast_path.width_errors(fast_path.fast_path(code, 0x10))]


def changed(at, line):
    return GOOD[:at] + [line] + GOOD[at + 1:]


def found(errors, expected):
    assert any(expected in error for error in errors), (expected, errors)


def main():
    assert errors_of(GOOD) == [], errors_of(GOOD)
    found(errors_of(GOOD, may_store=1), "2 stores on one way")
    found(errors_of(changed(2, "mov DWORD PTR [rdi],ecx")), "3 stores on one way")
    found(errors_of(changed(5, "inc WORD PTR [rcx]")), "less than 32 bits")
    assert errors_of(changed(2, "cmp cx,WORD PTR [rdi+0x4]")) == [], "it only reads"
    found(errors_of(changed(2, "call 99 <slow>")), "call, which may not")
    found(errors_of(changed(2, "syscall")), "syscall, which may not")
    found(errors_of(changed(2, "lock inc WORD PTR [rcx]")), "lock inc, which may not")
    found(errors_of(changed(2, "mov DWORD PTR fs:[rax+0x18],ecx")), "writes a field of rseq")
    found(errors_of(changed(5, "inc ecx")), "does not end in a store")
    found(errors_of(GOOD, end=7), "ret, which may not")
    found(errors_of(changed(2, "mov DWORD PTR [rdi],ecx")[:4] + GOOD[3:], may_store=1), "without the commit")
    assert not loops_in(GOOD) and loops_in(changed(3, "je {back}"))
    try:
        errors_of(changed(3, "je {back}"))
    except ValueError as error:
        assert "loop" in str(error)
    else:
        raise AssertionError("a loop inside a sequence was not found")
    print("fast_path: every broken sequence found out")


if __name__ == "__main__":
    main()
