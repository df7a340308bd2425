# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: PHP's command line on a script that uses what Debian builds in and what it loads as extensions.
# Invariant: the script's output is fixed; it names the extensions, so that none is missing without being noticed.
# Must not know: how results are compared.
"""PHP: its extensions are opened with RTLD_DEEPBIND, and blocks go from them to the program and back."""

from harness.launcher import Launcher
from harness.program import INPUTS, Outcome, Program, Work

PHP_COMMAND = "/usr/bin/php"
EVERY_OBJECT = {"USE_ZEND_ALLOC": "0"}  # each value a block of malloc's, none from PHP's own pools


def run(work: Work, launcher: Launcher) -> Outcome:
    with work.trial() as folder:
        done = launcher.run([PHP_COMMAND, "-f", INPUTS / "job.php"], folder, extra=EVERY_OBJECT)
        return Outcome(done.output, done.usage)


PHP = Program(
    name="php",
    summary="php: arrays, DOM, XPath, multibyte text, with extensions",
    files={PHP_COMMAND: "php-cli", "/etc/php/8.2/mods-available/mbstring.ini": "php-mbstring",
           "/etc/php/8.2/mods-available/dom.ini": "php-xml"},
    # Without extensions: the loader tells what these bind by name, and that is libc's; where it leads, the run shows.
    probe=lambda: [PHP_COMMAND, "-n", "-r", "1;"],
    run=run,
    in_bench=False,
)
