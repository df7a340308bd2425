#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: real programs under the collecting malloc: what they write, and how they end.
# Invariant: output and exit code are those without it, whatever free does there.
# Must not know: how the library works.
"""Usage: programs.py GRANARY SOURCES [SETTING]...   (a setting as for granary run)"""

import os
import subprocess
import sys
import tempfile

GRANARY, SOURCES = sys.argv[1:3]
SETTINGS = sys.argv[3:]
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("GRANARY_", "LD_"))}

BASH = """
for i in $(seq 1 300); do a="$a$i "; b=$(echo "$i"); done; echo "${#a} $b"
(exit 3); echo $?; f() { local x=$1; [ "$x" = 0 ] || f $((x - 1)); }; f 300
printf '%s\\n' c b a | sort | while read -r line; do echo "<$line>"; done; exit 5
"""
PERL = """
my %h; $h{$_ % 5000} .= "x" x ($_ % 7) for 1 .. 200000; print length(join ",", map { "$_$h{$_}" } sort keys %h), "\n";
my @a = map { [$_, { k => $_ }] } 1 .. 50000; print $a[-1][1]{k}, "\n"; if (fork) { wait; print $? >> 8, "\n" } else { exit 7 }
"""
PYTHON = """
import json, threading
def work():
    for _ in range(5):
        data = [{"k": str(j), "v": [j] * 10} for j in range(5000)]
        assert json.loads(json.dumps(data)) == data
threads = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in threads]; [t.join() for t in threads]
print(len({str(i): [i] for i in range(100000)})); raise SystemExit(4)
"""
# Pointers at other addresses than multiples of a word: in ruby's buffers of files, in perl's packed strings and in ctypes'
# packed structures.
RUBY = """
files = (0...40).map { |i| File.write("f#{i}", (0...400).map { |l| "line #{l} of #{i}\\n" }.join); File.open("f#{i}") }
first = files.map(&:gets)
kept = (0...200_000).map { |i| "s" * 80 + i.to_s }
puts first.join, files.map { |f| n = 0; n += 1 while f.gets; n }.tally.inspect, kept.sum(&:size)
h = Hash.new { |all, key| all[key] = [key] * 3 }; 50_000.times { |i| h[i.to_s] << i.to_s.to_sym }
puts h.size, h["777"].inspect, (1..200).map { |i| Fiber.new { Fiber.yield i.to_s * 100 }.resume }.sum(&:size)
work = -> { (0...20_000).map { |i| [i, i.to_s] }.group_by { |_, s| s.size }.transform_values(&:size) }
puts 3.times.map { Thread.new(&work) }.map(&:value).inspect
exit 6
"""
PERL_PACKED = """
my @kept; for my $n (1 .. 2000) { my $text = "text $n" x 20; push @kept, [pack("x" . ($n % 8) . "P", $text), \\$text] }
my @other = map { "garbage $_" x 30 } 1 .. 100000;
for my $n (1 .. 2000) { my ($at, $length) = ($n % 8, length("text $n") * 20);
    die $n if unpack("x$at P$length", $kept[$n - 1][0]) ne "text $n" x 20 } print scalar(@other), "\\n"; exit 8;
"""
PYTHON_PACKED = """
import ctypes
libc = ctypes.CDLL(None); libc.malloc.restype = ctypes.c_void_p; libc.malloc.argtypes = [ctypes.c_size_t]
class Tagged(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("tag", ctypes.c_char), ("pointer", ctypes.c_void_p)]
kept = (Tagged * 3000)()
for i, place in enumerate(kept):
    place.pointer = libc.malloc(100); ctypes.memset(place.pointer, i % 251, 100)
for _ in range(20): garbage = [bytes(70) for _ in range(20000)]
assert all(ctypes.string_at(place.pointer, 100) == bytes([i % 251]) * 100 for i, place in enumerate(kept))
print(len(garbage), len(kept)); raise SystemExit(9)
"""
# Pointers one past the end of a block: php keeps no others of the table of a function that has a type, but no parameters.
PHP = """
for ($i = 0; $i < 3000; ++$i) eval("function f$i(): int { return $i; }");
function table($n) { $all = []; for ($i = 0; $i < $n; ++$i) $all["k$i"] = [$i, str_repeat("v", $i % 50)]; return $all; }
function keep() { static $kept = []; $kept[] = table(30); return count($kept); }
for ($i = 0; $i < 200; ++$i) { $t = table(500); ksort($t); keep(); }
class Node { public $next; public $value; function __construct($next) { $this->next = $next; $this->value = md5((string) mt_rand()); } }
mt_srand(7); $list = null; for ($i = 0; $i < 50000; ++$i) $list = new Node($list);
$sum = 0; for ($at = $list; $at; $at = $at->next) $sum += hexdec(substr($at->value, 0, 4));
echo $sum, " ", keep(), " ", count(array_filter(array_map(fn($x) => $x * 2, range(1, 100000)), fn($x) => $x % 3 == 0)), "\n";
echo strlen(json_encode(table(2000))), " ", array_sum(array_map(fn($i) => "f$i"(), range(0, 2999))), "\n"; exit(10);
"""
SQL = """
create table t(a, b); insert into t select value, hex(value * 7919) from generate_series(1, 60000);
create index i on t(b); select count(*), min(b), max(a) from t where b like '3%';
with recursive c(x) as (select 1 union all select x + 1 from c where x < 100000) select sum(x) from c;
"""


def commands(folder):
    object_file = os.path.join(folder, "object.s")
    return {
        "bash": ["bash", "-c", BASH],
        "perl": ["perl", "-e", PERL],
        "python": ["/usr/bin/python3", "-c", PYTHON],
        "ruby": ["sh", "-c", f"cd {folder} && exec ruby -e '{RUBY}'"],
        "perl-packed": ["perl", "-e", PERL_PACKED],
        "python-packed": ["env", "PYTHONMALLOC=malloc", "/usr/bin/python3", "-c", PYTHON_PACKED],
        "php": ["env", "USE_ZEND_ALLOC=0", "php", "-r", PHP],
        "php-own": ["php", "-r", PHP],
        "sqlite": ["sqlite3", ":memory:", SQL],
        "gcc": ["sh", "-c", f"g++ -std=c++20 -O1 -I {SOURCES}/src -I {SOURCES}/include -S -o {object_file} "
                            f"{SOURCES}/src/instance/options.cpp && cat {object_file}"],
        "git": ["sh", "-c", f"cd {folder} && git init -q . && cp -r {SOURCES}/src . && git add . && "
                            "git -c user.name=a -c user.email=b commit -q --date=2000-01-01T00:00:00Z -m c && "
                            "git repack -adq && git fsck 2>&1 && git rev-parse HEAD^{tree} && git ls-files -s"],
    }


def run(name, prefix):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(prefix + commands(folder)[name], env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stdout.replace(folder.encode(), b"."), done.stderr.replace(folder.encode(), b".")


def main():
    prefix = [GRANARY, "run", "--gc-malloc"] + [word for setting in SETTINGS for word in ("--set", setting)] + ["--"]
    different = [name for name in commands("") if run(name, []) != run(name, prefix)]
    for name in different:
        print(f"{name}: {run(name, prefix)[::2]} instead of {run(name, [])[::2]}")
    return 1 if different else 0


sys.exit(main())
