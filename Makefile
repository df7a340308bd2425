# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      the commands a person types; each is one or two of CMake's.
# Invariant: `make` and `make lib` need their packages only and never ask for root; `make test`, `make demo` and their like
#            install what is missing; no test is in two of the parts of `make test-all`.
# Must not know: files or flags; CMakePresets.json and the CMakeLists know them.
PREFIX ?= /usr/local
DESTDIR ?=
CPUS := $(shell nproc)
# What a newcomer waits for, and the rest. Each preset's tests: CONTRIBUTING.md.
PRESETS := release
PRESETS_REST := counted debug clang sanitize aarch64
# The names of tests that the preset debug leaves out; the soak runs them.
DEBUG_LEAVES_OUT = $(shell python3 -c 'import json; print(*(preset["filter"]["exclude"]["name"] \
    for preset in json.load(open("CMakePresets.json"))["testPresets"] if preset["name"] == "debug"))')
# Where `make lib` builds.
LIB_BUILD := build/lib
SOURCES = $(shell find include src tool lab test bench \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' \) 2>/dev/null)
PRODUCTS := granary_shared granary_static granary_prefixed granary_prefixed_static gc_shared gc_static gccpp_shared gccpp_static gcmalloc_shared record_shared granary_tool man

.PHONY: all help release lib lab lab-show demo test test-long test-rest test-all $(PRESETS:%=test-%) $(PRESETS_REST:%=test-%) install \
        uninstall package site format lint lint-format view bench bench-peers counted soak portability mutants clean
.NOTPARALLEL:

all: release ## build the libraries, the command and its man pages in build/release

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

# A tree that is configured already keeps its tests and benchmarks (so does `make counted`). Warnings are errors for who tests, not for who
# builds: a newer compiler may warn.
release:
	scripts/setup --check build
	test -f build/release/build.ninja || cmake --preset release -DGRANARY_TESTS=OFF -DGRANARY_BENCH=OFF \
	    -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF
	cmake --build build/release --target $(PRODUCTS)

lib: ## build libgranary.so and .a alone in build/lib: needs a C++ compiler, CMake and make
	cmake -S . -B $(LIB_BUILD) -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=Release \
	    -DGRANARY_GC=OFF -DGRANARY_RECORDER=OFF -DGRANARY_TOOL=OFF -DGRANARY_LAB=OFF -DGRANARY_MAN=OFF
	cmake --build $(LIB_BUILD) -j $(CPUS) --target granary_shared granary_static

# `make install` installs them, too, once they are there.
lab: release ## build the allocators of the papers, for --allocator lab:NAME
	cmake --build build/release --target lab

lab-show: release ## build what `granary lab show` needs: the stage, and the allocators that tell what they do
	cmake --build build/release --target lab_shown

demo: ## three programs, here and on the system malloc: time and memory, four minutes
	scripts/setup build demo
	$(MAKE) release
	scripts/demo

test: ## the release build's tests, but for what takes long
	scripts/setup build test
	$(MAKE) $(PRESETS:%=test-%)
	@echo "make test: everything passed; make test-rest: what takes long, and the other presets"

test-long: ## the release build's long tests: real programs, the lab, the pages in a browser
	scripts/setup build test view site notebook
	cmake --preset release -DGRANARY_TESTS=ON -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
	cmake --build --preset release -j $(CPUS) --target all lab_tests
	mkdir -p build/release-long
	ctest --preset release-long

# Prerequisites, so that `make -k` goes on after one that failed.
test-rest: test-long $(PRESETS_REST:%=test-%) ## make test-long, and the presets debug, clang, sanitize, aarch64, counted
	@echo "make test-rest: everything passed"

test-all: test test-rest ## both

$(PRESETS:%=test-%) $(PRESETS_REST:%=test-%): test-%:
	@echo "=== $*: $$(date +%T)"
	cmake --preset $* -DGRANARY_TESTS=ON -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
	cmake --build --preset $* -j $(CPUS)
	@echo "=== $*: built $$(date +%T)"
	ctest --preset $*

install: release ## install under PREFIX (/usr/local), below DESTDIR
	DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(PREFIX)

uninstall: ## remove what the last `make install` from this folder installed
	cmake -P cmake/uninstall.cmake

package: ## a .deb, its debug symbols and a relocatable tarball, in build/package
	scripts/setup build package
	scripts/package

portability: ## build, package, install and run in chroots of Debian 12 and 13, by each compiler; as root, hours
	scripts/portability

site: ## the documents as pages with search, in build/site
	scripts/setup site
	scripts/site

format: ## clang-format, in place
	scripts/setup lint
	clang-format-14 -i $(SOURCES)

lint: lint-format ## clang-format and clang-tidy
	scripts/setup build test lint
	cmake --preset clang -B build/lint -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DGRANARY_UNITY=OFF
	run-clang-tidy-14 -quiet -p build/lint '/(src|tool|lab)/.*\.cpp$$'

lint-format:
	scripts/setup lint
	clang-format-14 --dry-run --Werror $(SOURCES)

view: ## build the pages of granary report and granary lab show, which the repository carries built
	scripts/setup view
	cd view && npm ci --ignore-scripts && npm run check && npm run build

counted: ## the libraries that count their locks and atomic operations, for bench/counts.py and bench/boehm.py
	scripts/setup --check build
	test -f build/counted/build.ninja || cmake --preset counted -DGRANARY_TESTS=OFF
	cmake --build build/counted --target granary_shared gc_shared lab -j $(CPUS)

bench: ## what granary bench needs
	scripts/setup build bench
	cmake --preset release -DGRANARY_BENCH=ON
	cmake --build build/release --target $(PRODUCTS) bench

bench-peers: ## build the allocators that granary bench compares with
	scripts/setup peers
	python3 bench/peers/build.py

soak: ## the long tests, many hours
	scripts/setup build test view notebook
	cmake --preset release -DGRANARY_TESTS=ON
	cmake --build --preset release -j $(CPUS) --target all lab_tests trace_commands_fuzz_sanitized
	ctest --test-dir build/release -C soak -L soak --output-on-failure
	cmake --preset debug
	cmake --build --preset debug -j $(CPUS)
	ctest --test-dir build/debug -C soak -R '$(DEBUG_LEAVES_OUT)|\.norseq$$' -E '\.soak' -LE 'real|slow' --output-on-failure
	cmake --preset debug -B build/debug-rest -DGRANARY_TEST_FOLDERS="instance;recorder"
	cmake --build build/debug-rest -j $(CPUS)
	ctest --test-dir build/debug-rest -LE soak --output-on-failure
	cmake --preset sanitize -B build/sanitize-lab -DGRANARY_TEST_FOLDERS="model;lab"
	cmake --build build/sanitize-lab -j $(CPUS) --target all lab_tests
	ctest --test-dir build/sanitize-lab -j $(CPUS) --output-on-failure
	cmake --preset clang
	cmake --build build/clang -j $(CPUS)
	ctest --test-dir build/clang -C soak -R '^trace.libfuzzer.soak$$' --output-on-failure
	$(MAKE) mutants

mutants: ## break a copy of the sources in each way that test/mutation lists: a unit test must find it
	scripts/setup --check build test
	python3 test/mutation/run.py

clean: ## remove the build
	rm -rf build
