# A thin front for Meson: every target does its own set-up and then its job.
BUILD := build
ASAN := build-asan
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

.PHONY: all run test test-all test-long lint format bench fuzz install clean
.NOTPARALLEL:

all:
	@tools/setup build
	@tools/configure $(BUILD)
	@tools/build $(BUILD) faden docs/faden.1

run: all
	@$(BUILD)/faden

# What finds most, in a few minutes. Ends with "N passed, M failed", as all of these do.
test:
	@tools/setup build test
	@tools/configure $(BUILD) -Dtests=true
	@tools/build $(BUILD)
	@tools/run-tests $(BUILD) -- --no-suite slow

# Every test, plain and with sanitizers, the unit tests also under valgrind; test-long sweeps over
# every step where test-all takes every third or tenth.
test-all test-long:
	@tools/setup build test
	@tools/configure $(BUILD) -Dtests=true
	@tools/configure $(ASAN) -Dtests=true -Db_sanitize=address,undefined -Db_lundef=false
	@tools/build $(BUILD)
	@tools/build $(ASAN)
	@tools/run-tests $(BUILD) $(ASAN) -- $(if $(filter test-long,$@),--setup long)

lint:
	@tools/setup build test lint
	@tools/configure $(BUILD) -Dtests=true
	@tools/build $(BUILD)
	@tools/lint $(BUILD)

format:
	@tools/setup lint
	@find src fuzz tests bench -name '*.[ch]' | xargs clang-format -i

bench:
	@tools/setup build bench
	@tools/configure $(BUILD)
	@tools/build $(BUILD) faden
	@bench/run $(BUILD)

# Each target for FUZZ_SECONDS with libFuzzer and sanitizers.
fuzz:
	@tools/setup build test fuzz
	@fuzz/run $(FUZZ_SECONDS)

install:
	@tools/setup build
	@tools/configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@tools/build $(BUILD)
	@meson install --quiet --no-rebuild -C $(BUILD)

clean:
	rm -rf $(BUILD) $(ASAN) build-fuzz
