# tally: see `make help`.  Sources are found by place: a new .c under src/ belongs to the library, a
# new tests/unit/test_X.c is a unit test, a new tests/fuzz/fuzz_X.c is a fuzz target.

BUILD   ?= build
CC      := gcc
CLANG   ?= $(shell command -v clang-19 || command -v clang)
PYTHON  := /usr/bin/python3
PREFIX  ?= /usr
VERSION := $(shell cat VERSION)
# SAN=address or SAN=thread builds everything under that sanitizer, into its own directory.
SAN     ?=
# WERROR=1 makes warnings errors (CI).
WERROR  ?=

PKGS := libpq libmicrohttpd jansson libcurl libsystemd libcrypto zlib
WARN := -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wcast-qual -Wwrite-strings -Wvla -Wundef -Wformat=2 -Wswitch-enum \
	-Wnull-dereference -Wlogical-op -Wduplicated-cond -Wduplicated-branches \
	$(if $(WERROR),-Werror)
HARDEN := -O2 -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -fPIE
SANFLAGS_address := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
SANFLAGS_thread  := -O1 -fsanitize=thread -fno-omit-frame-pointer
OPT := $(if $(SAN),$(SANFLAGS_$(SAN)) -fPIE,$(HARDEN))

CPPFLAGS := -D_GNU_SOURCE -Isrc -I$(BUILD)/gen -DTALLY_VERSION='"$(VERSION)"' -DTALLY_PREFIX='"$(PREFIX)"'
CFLAGS   := -std=gnu17 -g $(WARN) $(OPT) -pthread
LDFLAGS  := -pie -pthread -Wl,-z,relro,-z,now $(if $(SAN),$(SANFLAGS_$(SAN)))
PKGCFLAGS = $(shell pkg-config --cflags $(PKGS))
LIBS     = $(shell pkg-config --libs $(PKGS)) -lmunge -lm

MAINS    := src/tallyd.c
CLI_SRC  := $(wildcard src/cli/*.c)
LIB_SRC  := $(filter-out $(MAINS) $(CLI_SRC),$(wildcard src/*.c src/*/*.c))
SQL      := $(sort $(wildcard sql/*.sql))
GEN      := $(BUILD)/gen/migrations.inc $(BUILD)/gen/openapi.inc
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_OBJ  := $(CLI_SRC:%.c=$(BUILD)/%.o)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=build-fuzz/%)

.DEFAULT_GOAL := build
.PHONY: help run check build man unit integration asan tsan fuzz bench lint analyze format compdb install clean deps

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

deps:
	@tools/install-deps $(DEPS)

build: $(BUILD)/tallyd $(BUILD)/tally man ## tallyd, tally and the manual pages into build/

$(BUILD)/tallyd: $(BUILD)/src/tallyd.o $(BUILD)/libtally.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/tally: $(BUILD)/src/cli/main.o $(BUILD)/libcli.a $(BUILD)/libtally.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

# The manual is made from man/*.in and the tables that the programs are made from.
MAN := $(patsubst man/%.in,$(BUILD)/man/%,$(wildcard man/*.in))
man: $(MAN)

$(BUILD)/gen-man: tools/gen-man.c man/sacct-fields.def $(BUILD)/libcli.a $(BUILD)/libtally.a
	$(CC) $(CPPFLAGS) $(PKGCFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/libcli.a $(BUILD)/libtally.a $(LIBS)

$(BUILD)/man/%: man/%.in $(BUILD)/gen-man
	@mkdir -p $(@D)
	$(BUILD)/gen-man $< > $@.new && mv $@.new $@

$(BUILD)/libtally.a: $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/libcli.a: $(filter-out $(BUILD)/src/cli/main.o,$(CLI_OBJ))
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/%.o: %.c | $(GEN)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(PKGCFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/gen/migrations.inc: $(SQL) tools/embed-sql
	@mkdir -p $(@D)
	tools/embed-sql $(SQL) > $@

$(BUILD)/gen/openapi.inc: openapi/tally.yaml tools/embed-text
	@mkdir -p $(@D)
	tools/embed-text openapi/tally.yaml > $@

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libcli.a $(BUILD)/libtally.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(PKGCFLAGS) -Itests $(CFLAGS) -Wno-missing-prototypes -MMD -MP $(LDFLAGS) -o $@ $< $(BUILD)/libcli.a $(BUILD)/libtally.a $(LIBS) -lcmocka

$(BUILD)/bench/%: tests/bench/%.c $(BUILD)/libtally.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(PKGCFLAGS) -Itests $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(BUILD)/libtally.a $(LIBS) -lcmocka

unit: $(UNIT_BIN) ## unit tests: no server, no network, no clock (those marked test_pg_* on a private PostgreSQL)
	@tests/run-unit $(UNIT_BIN)

integration: build ## tests against real daemons (T=pytest arguments)
	@TALLY_BUILD=$(abspath $(BUILD)) $(PYTHON) -m pytest -q -p no:cacheprovider tests/integration $(T)

asan: ## the whole suite again under address, undefined and leak sanitizers
	$(MAKE) SAN=address BUILD=build-asan unit integration

tsan: ## the threaded parts under the thread sanitizer
	$(MAKE) SAN=thread BUILD=build-tsan build
	$(MAKE) SAN=thread BUILD=build-tsan integration T='-m threads'

# The library once more, compiled for libFuzzer with its sanitizers.
FUZZ_FLAGS := -std=gnu17 -g -O1 -w -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_OBJ   := $(LIB_SRC:%.c=build-fuzz/obj/%.o)

build-fuzz/obj/%.o: %.c | $(GEN)
	@mkdir -p $(@D)
	$(CLANG) $(CPPFLAGS) $(PKGCFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

build-fuzz/libtally.a: $(FUZZ_OBJ)
	@rm -f $@
	ar rcs $@ $^

build-fuzz/%: tests/fuzz/%.c build-fuzz/libtally.a
	$(CLANG) $(CPPFLAGS) $(PKGCFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $< build-fuzz/libtally.a $(LIBS)

fuzz: $(FUZZ_BIN) ## every parser for FUZZ_SECONDS (60) each
	@tests/run-fuzz $(FUZZ_BIN)

bench: build $(BUILD)/bench/load ## measured ratios to bare PostgreSQL (BENCH_JOBS, BENCH=arguments)
	@TALLY_BUILD=$(abspath $(BUILD)) tests/bench/run $(BENCH)

lint: ## floors, banned calls, generated files, contract, static analysis
	@tests/lint

analyze: ## the clang analyzer over every source (minutes)
	@tests/lint analyzer

format: ## clang-format over the C sources (tables fenced off)
	clang-format-14 -i $(wildcard src/*.c src/*/*.[ch] tests/unit/*.c tests/fuzz/*.c)

compdb: ## compile_commands.json for editors and clang-tidy
	@tools/compdb "$(CC) $(CPPFLAGS) $(PKGCFLAGS) $(CFLAGS)" $(MAINS) $(CLI_SRC) $(LIB_SRC) > compile_commands.json

check: ## installs what is missing, builds, runs every test
	@tools/check

run: ## installs, builds, starts tallyd here with sample records, says what to try
	@tools/run

install: build ## into DESTDIR and PREFIX
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" BUILD="$(BUILD)" tools/install

clean: ## removes what was built; never data
	rm -rf build build-asan build-tsan build-fuzz compile_commands.json

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(BUILD)/src/tallyd.d $(wildcard $(BUILD)/unit/*.d) $(FUZZ_OBJ:.o=.d)
