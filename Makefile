# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      the commands a person types; each is one or two of CMake's.
# Invariant: `make` alone needs the build packages only and never asks for root; `make test`, `make demo` and their like
#            install what is missing; no test is in two of the parts of `make test-all`.
# Must not know: files or flags; CMakePresets.json and the CMakeLists know them.
PREFIX ?= /usr/local
DESTDIR ?=
CPUS := $(shell nproc)
# What a newcomer waits for, and the rest.
PRESETS := release counted
PRESETS_REST := debug pauses clang sanitize aarch64
SOURCES = $(shell find include src tool lab test bench \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' \) 2>/dev/null)
PRODUCTS := granary_shared granary_static gc_shared gccpp_shared gcmalloc_shared record_shared granary_tool man

.PHONY: all release lab demo test test-rest test-all $(PRESETS:%=test-%) $(PRESETS_REST:%=test-%) install format lint \
        lint-format view bench bench-peers counted soak mutants clean
.NOTPARALLEL:

all: release

# A release tree that is configured already keeps its tests and benchmarks.
release:
	scripts/setup --check build
	test -f build/release/build.ninja || cmake --preset release -DGRANARY_TESTS=OFF -DGRANARY_BENCH=OFF
	cmake --build build/release --target $(PRODUCTS)

# The allocators of the papers, for --allocator lab:NAME; `make install` installs them, too, once they are there.
lab: release
	cmake --build build/release --target lab

demo:
	scripts/setup build demo
	$(MAKE) release
	scripts/demo

test:
	scripts/setup build test view
	$(MAKE) $(PRESETS:%=test-%)
	@echo "make test: everything passed; make test-rest: the other presets"

test-rest:
	scripts/setup build test
	$(MAKE) $(PRESETS_REST:%=test-%)
	@echo "make test-rest: everything passed"

test-all: test test-rest

$(PRESETS:%=test-%) $(PRESETS_REST:%=test-%): test-%:
	@echo "=== $*: $$(date +%T)"
	cmake --preset $* -DGRANARY_TESTS=ON
	cmake --build --preset $* -j $(CPUS)
	ctest --preset $*

install: release
	DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(PREFIX)

format:
	clang-format-14 -i $(SOURCES)

lint: lint-format
	cmake --preset clang -B build/lint -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
	run-clang-tidy-14 -quiet -p build/lint '/(src|tool|lab)/.*\.cpp$$'

lint-format:
	clang-format-14 --dry-run --Werror $(SOURCES)

# The page of granary report, which the repository carries built.
view:
	scripts/setup view
	cd view && npm ci --ignore-scripts && npm run check && npm run build

# The library that counts its locks and atomic operations, for bench/counts.py.
counted:
	scripts/setup --check build
	cmake --preset counted -DGRANARY_TESTS=OFF
	cmake --build build/counted --target granary_shared lab -j $(CPUS)

bench:
	scripts/setup build bench
	cmake --preset release -DGRANARY_BENCH=ON
	cmake --build build/release --target $(PRODUCTS) bench

bench-peers:
	scripts/setup peers
	python3 bench/peers/build.py

soak:
	scripts/setup build test
	cmake --preset release -DGRANARY_TESTS=ON
	cmake --build --preset release -j $(CPUS)
	ctest --test-dir build/release -C soak -L soak --output-on-failure
	cmake --preset clang
	cmake --build build/clang --target trace_libfuzzer -j $(CPUS)
	ctest --test-dir build/clang -C soak -R '^trace.libfuzzer.soak$$' --output-on-failure
	$(MAKE) mutants

# Breaks the sources, a copy of them, in each way that test/mutation lists: a unit test must find it.
mutants:
	scripts/setup --check build test
	python3 test/mutation/run.py

clean:
	rm -rf build
