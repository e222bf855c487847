# Builds, runs and checks sizer. All output goes under $(BUILD). `make help` lists the words.

BUILD ?= build
CC = gcc
OPTIMISE = -O2
FUZZ_SECONDS ?= 30

# Nothing above a recipe may call the compiler or pkg-config: `make run` and `make test` start on machines without.

service_sources := $(wildcard service/*.c service/*/*.c service/*/*/*.c)
db_sources := $(wildcard db/*.c)
api_sources := $(filter-out api/main.c,$(wildcard api/*.c api/*/*.c api/*/*/*.c))
support_sources := $(wildcard tests/support/*.c)
seeds := $(sort $(wildcard migrations/seed/*.csv))

tests_in = $(wildcard $(foreach depth,* */* */*/*,tests/$(1)/$(depth)_test.c))
core_tests := $(call tests_in,service)
db_tests := $(call tests_in,db)
accuracy_tests := $(wildcard tests/accuracy/*_test.c)
accuracy_programs := tests/accuracy/accuracy.c tests/accuracy/fit.c
accuracy_sources := $(filter-out $(accuracy_tests) $(accuracy_programs),$(wildcard tests/accuracy/*.c))
api_tests := $(call tests_in,api) $(call tests_in,contract) $(call tests_in,e2e) $(accuracy_tests)
program = $(patsubst %.c,$(BUILD)/%,$(1))
object = $(patsubst %.c,$(BUILD)/%.o,$(1))

# Flags. SAN names sanitizers, WERROR=1 turns warnings into errors, COVER=1 counts lines.
WARNINGS = -Wall -Wextra -Wconversion -Wshadow -Wswitch-enum
HARDENING = -fstack-protector-strong -fstack-clash-protection
BASE_CFLAGS = -std=c17 -D_GNU_SOURCE $(OPTIMISE) -g -fno-omit-frame-pointer -pthread $(WARNINGS) $(HARDENING) \
    $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=undefined,-D_FORTIFY_SOURCE=2) $(if $(COVER),--coverage)
BASE_LDFLAGS = -pthread -Wl,-z,relro,-z,now -Wl,--as-needed $(if $(SAN),-fsanitize=$(SAN)) $(if $(COVER),--coverage)
ALL_CFLAGS = $(BASE_CFLAGS) $(if $(filter 1,$(WERROR)),-Werror) -I. -I$(BUILD)/generated $(CFLAGS)

# pkg-config is asked once, when a recipe first needs the answer.
remember = $(eval $(1) := $(shell $(2)))$($(1))
DB_CFLAGS = $(call remember,DB_CFLAGS,pkg-config --cflags libpq talloc)
DB_LIBS = $(call remember,DB_LIBS,pkg-config --libs libpq talloc && echo -lcsv)
API_CFLAGS = $(call remember,API_CFLAGS,pkg-config --cflags libmicrohttpd jansson zlib libcrypto)
API_LIBS = $(call remember,API_LIBS,pkg-config --libs libmicrohttpd jansson zlib libcrypto)
CHECK_CFLAGS = $(call remember,CHECK_CFLAGS,pkg-config --cflags check libcurl yaml-0.1)
CHECK_LIBS = $(call remember,CHECK_LIBS,pkg-config --libs check)
TEST_LIBS = $(call remember,TEST_LIBS,pkg-config --libs libcurl yaml-0.1)

# What a file may see follows from where it lives: service/ gets no library at all.
$(BUILD)/service/%.o: ROOM_CFLAGS =
$(BUILD)/db/%.o: ROOM_CFLAGS = $(DB_CFLAGS)
$(BUILD)/api/%.o: ROOM_CFLAGS = $(API_CFLAGS)
$(BUILD)/tests/%.o: ROOM_CFLAGS = $(CHECK_CFLAGS) $(DB_CFLAGS) -DPROJECT_ROOT='"$(CURDIR)"' \
    -DSIZER_PROGRAM='"$(abspath $(BUILD))/sizer"'
$(BUILD)/tests/service/%.o: ROOM_CFLAGS = $(CHECK_CFLAGS) -DPROJECT_ROOT='"$(CURDIR)"'
$(BUILD)/tests/db/%.o $(BUILD)/tests/api/%.o $(BUILD)/tests/contract/%.o $(BUILD)/tests/e2e/%.o \
$(BUILD)/tests/accuracy/%.o $(BUILD)/tests/bench/%.o $(BUILD)/tests/fuzz/%.o: ROOM_CFLAGS = $(CHECK_CFLAGS) $(DB_CFLAGS) $(API_CFLAGS) \
    -DPROJECT_ROOT='"$(CURDIR)"' -DSIZER_PROGRAM='"$(abspath $(BUILD))/sizer"'

.DEFAULT_GOAL := all
.PHONY: all run test tests check bench asan tsan cover tidy format layers fuzz fuzz-run migrate image accuracy accuracy-fit deps clean help
.DELETE_ON_ERROR:
.PRECIOUS: $(BUILD)/%.o

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14

all: $(BUILD)/sizer ## build the program, $(BUILD)/sizer

run: ## install what building needs, build, serve
	@.ci/deps build
	@$(MAKE) --no-print-directory all
	exec $(BUILD)/sizer

test: ## install what testing needs, then check
	@.ci/deps test
	@$(MAKE) --no-print-directory check

deps: ## install missing Debian packages for LEVEL=build, test, or ci (bench, fuzz, tidy, format too)
	@.ci/deps $(or $(LEVEL),test)

clean: ## remove what was built
	rm -rf $(BUILD)

# Objects. V=1 shows whole commands.

command = $(if $(V),,@echo '$(1)' &&)
$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call command,compile $<) $(CC) $(ALL_CFLAGS) $(ROOM_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/generated/%.o: $(BUILD)/generated/%.c $(BUILD)/flags
	$(call command,compile $<) $(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Rewritten only when the text changes, so that other flags or a removed file rebuild what they concern.
keep = mkdir -p $(@D) && printf '%s\n' '$(1)' | cmp -s - $@ || printf '%s\n' '$(1)' >$@
.PHONY: always
$(BUILD)/flags: always
	@$(call keep,$(CC) $(BASE_CFLAGS) $(CFLAGS))
$(BUILD)/sources: always
	@$(call keep,$(service_sources) $(db_sources) $(api_sources) $(support_sources) $(seeds))

archive = rm -f $@ && ar rcs $@ $(filter %.o,$^)
$(BUILD)/libservice.a: $(call object,$(service_sources)) $(BUILD)/sources
	@$(archive)
$(BUILD)/libdb.a: $(call object,$(db_sources)) $(BUILD)/generated/seed_data.o $(BUILD)/sources
	@$(archive)
$(BUILD)/libapi.a: $(call object,$(api_sources)) $(BUILD)/generated/openapi_data.o $(BUILD)/sources
	@$(archive)
$(BUILD)/libsupport.a: $(call object,$(support_sources)) $(BUILD)/sources
	@$(archive)

libraries = $(BUILD)/libapi.a $(BUILD)/libdb.a $(BUILD)/libservice.a
$(BUILD)/sizer: $(BUILD)/api/main.o $(libraries)
	$(call command,link $@) $(CC) $(BASE_LDFLAGS) $(LDFLAGS) -o $@ $^ $(API_LIBS) $(DB_LIBS) -lm

# Files compiled in: the assembler takes them in as they are, a C file gives their names and sizes.

embed = printf '__asm__(".section .rodata\\n%s: .incbin \\"%s\\"\\n.byte 0\\n.previous");\n' $(1) $(2)
$(BUILD)/generated/seed_data.c: $(seeds) $(BUILD)/sources Makefile
	@mkdir -p $(@D)
	@{ echo '#include "db/seed_data.h"'; \
	for file in $(seeds); do table=$$(basename $$file .csv); \
	    $(call embed,seed_$$table,$$file); echo "extern const unsigned char seed_$$table[];"; done; \
	echo 'const struct seed_file seed_files[] = {'; \
	for file in $(seeds); do table=$$(basename $$file .csv); \
	    echo "    { \"$$table\", seed_$$table, $$(wc -c <$$file) },"; done; \
	echo '};'; \
	echo 'const size_t seed_file_count = sizeof(seed_files) / sizeof(seed_files[0]);'; } >$@

$(BUILD)/generated/openapi_data.c: openapi.yaml Makefile
	@mkdir -p $(@D)
	@{ echo '#include "api/pages/openapi_data.h"'; \
	$(call embed,openapi_yaml,$<); \
	echo '__asm__(".global openapi_yaml");'; \
	echo "const size_t openapi_yaml_size = $$(wc -c <$<);"; } >$@

# Tests. What a test program is linked with follows from where it lives, too.

$(call program,$(core_tests)): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libsupport.a $(BUILD)/libservice.a
	$(call command,link $@) $(CC) $(BASE_LDFLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) -lm
$(call program,$(db_tests)): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libsupport.a $(BUILD)/libdb.a $(BUILD)/libservice.a
	$(call command,link $@) $(CC) $(BASE_LDFLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(TEST_LIBS) $(DB_LIBS) -lm
$(call program,$(filter-out $(accuracy_tests),$(api_tests))): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libsupport.a $(libraries)
	$(call command,link $@) $(CC) $(BASE_LDFLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(TEST_LIBS) $(API_LIBS) $(DB_LIBS) -lm
$(call program,$(accuracy_tests) $(accuracy_programs)): $(BUILD)/%: $(BUILD)/%.o $(call object,$(accuracy_sources)) \
    $(BUILD)/libsupport.a $(libraries)
	$(call command,link $@) $(CC) $(BASE_LDFLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(TEST_LIBS) $(API_LIBS) $(DB_LIBS) -lm

# TESTS narrows: make check TESTS='tests/service/model/%'
TESTS ?= %
chosen_tests = $(filter $(TESTS),$(core_tests) $(db_tests) $(api_tests))
test_programs = $(call program,$(chosen_tests))
tests: $(test_programs) $(if $(filter $(api_tests),$(chosen_tests)),$(BUILD)/sizer) ## build all tests
check: tests ## build and run all tests
	@tests/support/run.sh $(test_programs)

# Checks beyond the tests

asan: ## all tests under address and undefined behaviour sanitizers
	@CK_TIMEOUT_MULTIPLIER=10 $(MAKE) --no-print-directory BUILD=$(BUILD)/asan SAN=address,undefined check

# Only what runs threads. No address randomisation where that is allowed: gcc 12's runtime cannot always place its
# shadow memory beside what newer kernels have placed.
tsan_tests = $(shell grep -lE 'pthread|db_start|server_start|SIZER_PROGRAM' $(core_tests) $(db_tests) $(api_tests))
tsan: ## tests that run threads under the thread sanitizer
	@CK_TIMEOUT_MULTIPLIER=20 $$(setarch -R true 2>/dev/null && echo setarch -R) $(MAKE) --no-print-directory BUILD=$(BUILD)/tsan SAN=thread \
	    TESTS='$(tsan_tests)' check

cover: ## all tests, then which lines they ran: $(BUILD)/cover/report/index.html
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/cover COVER=1 OPTIMISE=-O0 check
	@mkdir -p $(BUILD)/cover/report
	gcovr --root . --filter service/ --filter db/ --filter api/ --print-summary --exclude-unreachable-branches \
	    --html-details $(BUILD)/cover/report/index.html --txt $(BUILD)/cover/report.txt $(BUILD)/cover

# One stamp a file, so that only what changed is looked at again and `make -j2 tidy` uses both cores.
tidy_stamps = $(patsubst %.c,$(BUILD)/tidy/%.ok,$(service_sources) $(db_sources) $(api_sources) $(wildcard api/main.c))
tidy: $(tidy_stamps) ## clang-tidy
$(BUILD)/tidy/service/%.ok: ROOM_CFLAGS =
$(BUILD)/tidy/db/%.ok: ROOM_CFLAGS = $(DB_CFLAGS)
$(BUILD)/tidy/api/%.ok: ROOM_CFLAGS = $(API_CFLAGS)
$(BUILD)/tidy/%.ok: %.c $(BUILD)/%.o .clang-tidy
	@mkdir -p $(@D)
	@echo 'tidy $<'
	@clang-tidy --quiet $< -- -std=c17 -D_GNU_SOURCE -I. -I$(BUILD)/generated $(ROOM_CFLAGS) 2>$@.log || \
	    { cat $@.log; exit 1; }
	@touch $@

formatted = $(service_sources) $(db_sources) $(api_sources) $(wildcard api/main.c service/*/*.h db/*.h api/*.h \
    api/*/*.h service/*/*/*.h tests/*/*.[ch] tests/*/*/*.[ch] tests/*/*/*/*.[ch])
format: ## whether the code is formatted; FIX=1 formats it
	@clang-format $(if $(FIX),-i,--dry-run -Werror) $(formatted)

layers: ## whether each include looks down
	@.ci/layers

# Fuzzing, with clang and libFuzzer: tests/fuzz/x_fuzz.c has its seeds in tests/fuzz/seeds/x/.

fuzz_sources := $(wildcard tests/fuzz/*_fuzz.c)
fuzz_programs = $(call program,$(fuzz_sources))
fuzz: ## fuzz each parser for FUZZ_SECONDS (30)
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz CC=clang SAN=fuzzer-no-link,address,undefined fuzz-run
fuzz-run: $(fuzz_programs)
	@for program in $(fuzz_programs); do \
	    name=$$(basename $$program _fuzz); found=$(BUILD)/found/$$name; mkdir -p $$found; \
	    $$program -max_total_time=$(FUZZ_SECONDS) -timeout=5 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
	        -artifact_prefix=$(BUILD)/found/$$name. $$found $$(ls -d tests/fuzz/seeds/$$name 2>/dev/null) \
	        2>$$found.log || { tail -n 60 $$found.log; echo "FAILED: fuzz $$name"; exit 1; }; \
	    echo "fuzz $$name: $$(sed -n 's/^stat::number_of_executed_units: *//p' $$found.log) inputs, no failure"; \
	done
$(fuzz_programs): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libsupport.a $(libraries)
	$(call command,link $@) $(CC) $(BASE_LDFLAGS) -fsanitize=fuzzer,address,undefined $(LDFLAGS) -o $@ $^ \
	    $(API_LIBS) $(DB_LIBS) -lm

# The running service

bench: $(BUILD)/sizer $(BUILD)/tests/bench/in_process ## requests per second and CPU a request, as Markdown tables
	@tests/bench/run.sh $(BUILD)/sizer
	@$(BUILD)/tests/bench/in_process
$(BUILD)/tests/bench/in_process: %: %.o $(BUILD)/libsupport.a $(libraries)
	$(call command,link $@) $(CC) $(BASE_LDFLAGS) $(LDFLAGS) -o $@ $^ $(API_LIBS) $(DB_LIBS) -lm

accuracy: $(BUILD)/tests/accuracy/accuracy ## how far estimates are from published measurements; README=1 writes it there
	@$< $(if $(README),--readme)

accuracy-fit: $(BUILD)/tests/accuracy/fit ## fit the constants anew, with each source, GPU and engine left out; QUICK=1, SAVE=1
	@$< $(if $(QUICK),--quick) $(if $(SAVE),--save)

migrate: ## bring the database at DATABASE_URL (of its owner) up to date
	@migrations/apply.sh

image: ## build the container image sizer:latest, with docker or, where no engine runs, buildah
	@docker/build.sh

-include $(wildcard $(patsubst %,$(BUILD)/%*.d,$(sort $(dir $(service_sources) $(db_sources) $(api_sources) api/main.c \
    generated/ $(support_sources) $(core_tests) $(db_tests) $(api_tests) tests/accuracy/ tests/bench/ tests/fuzz/))))
