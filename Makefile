# A thin front for Meson. Every target does its own set-up.
BUILD := build
PREFIX ?= /usr/local
TEST_DIRS := build-asan

.PHONY: all run test test-long test-asan lint format bench fuzz install clean setup
all: $(BUILD)/faden

$(BUILD)/build.ninja: tools/packages
	@tools/setup
	@test -f $@ || meson setup $(BUILD) --prefix $(PREFIX) >$(BUILD).log 2>&1 || \
		{ cat $(BUILD).log; rm -f $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log
	@touch $@

.PHONY: $(BUILD)/faden
$(BUILD)/faden: $(BUILD)/build.ninja
	@ninja -C $(BUILD) faden | { grep -v '^ninja: \|^\[' || true; }

run: all
	@$(BUILD)/faden

# Each fuzz target for FUZZ_SECONDS with libFuzzer and sanitizers; needs clang.
FUZZ_SECONDS ?= 60
fuzz:
	@fuzz/run $(FUZZ_SECONDS)
