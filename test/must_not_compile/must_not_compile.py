# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: compiles FILE, which must fail with the message it expects, and again with CONTROL, which must succeed.
# Invariant: a file without an expectation fails.
# Must not know: what the file is about.
"""usage: must_not_compile.py FILE COMPILER FLAGS...

FILE says what it expects in a line of its head:  // Expects: <regular expression, for any compiler>"""
import pathlib
import re
import subprocess
import sys


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    file, *command = sys.argv[1:]
    expects = re.search(r"^// Expects: (.+)$", pathlib.Path(file).read_text(), re.M)
    if not expects:
        sys.exit(f"{file}: has no line '// Expects: <regular expression>'")
    control = subprocess.run([*command, "-DCONTROL", file], capture_output=True, text=True)
    if control.returncode != 0:
        sys.exit(f"{file}: does not compile with CONTROL either:\n{control.stderr}")
    refused = subprocess.run([*command, file], capture_output=True, text=True)
    if refused.returncode == 0:
        sys.exit(f"{file}: compiles, and must not")
    if not re.search(expects[1], refused.stderr):
        sys.exit(f"{file}: refused, but not with '{expects[1]}':\n{refused.stderr}")
    print(f"refused as expected: {expects[1]}")


if __name__ == "__main__":
    main()
