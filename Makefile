# SPDX-License-Identifier: Apache-2.0
# trainprof: one makefile, not recursive. Sections: settings, probes, floors, build, tests, programs,
# house checks, other variants, fuzzing, style, install, packages.

# ---- settings -------------------------------------------------------------------------------
VARIANT ?= release
PREFIX  ?= /usr/local
VERSION := 0.1.0
COMMIT  := $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
WERROR  ?= 0
V       ?= 0
Q       := $(if $(filter 0,$(V)),@)
# Prints each action, unless make -s is used.
SAY     := @$(if $(findstring s,$(firstword -$(MAKEFLAGS))),:,echo)

B := build/$(VARIANT)

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion \
	-Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wundef -Wvla -Wcast-qual \
	-Wpointer-arith -Wwrite-strings
CFLAGS_release := -O2 -g
CFLAGS_clang   := -O2 -g
CFLAGS_asan    := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
CFLAGS_portable := -O2 -fPIE
CFLAGS_tsan    := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
CFLAGS_coverage := -O0 -g --coverage
CFLAGS_fuzz    := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
ifneq ($(filter $(VARIANT),clang fuzz),)
CC := clang
endif
ifeq ($(origin CC),default)
CC := gcc
endif
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -Iinclude -Isrc $(WARNINGS) $(if $(filter 1,$(WERROR)),-Werror) \
	$(CFLAGS_$(VARIANT)) $(PROBED_CFLAGS) $(CFLAGS)

# ---- probes: optional features are detected by compiling a use of them -------------------------
# Into a file of its own: some compilers take /dev/null for no name and write a.out.
try_link = $(shell t=$$(mktemp) && printf '$(1)' | $(CC) $(CFLAGS) $(LDFLAGS) -x c - $(2) -o $$t 2>/dev/null && echo yes; rm -f $$t)
HAVE_DW    := $(call try_link,\043include <dwarf.h>\nint main(void){return DW_CFA_advance_loc & 1;},)
HAVE_CJSON := $(call try_link,\043include <cjson/cJSON.h>\nint main(void){return !cJSON_Parse;},-lcjson)
HAVE_CHECK := $(call try_link,\043include <check.h>\nint main(void){return !suite_create;},-lcheck -lsubunit -lrt -lm -lpthread)
HAVE_PFM   := $(call try_link,\043include <perfmon/pfmlib_perf_event.h>\nint main(void){return pfm_initialize();},-lpfm)
HAVE_Z     := $(call try_link,\043include <zlib.h>\nint main(void){return !zlibVersion();},-lz)
HAVE_SQLITE := $(call try_link,\043include <sqlite3.h>\nint main(void){return !sqlite3_libversion();},-lsqlite3)
PROBED_CFLAGS := -DTP_HAVE_PFM=$(if $(HAVE_PFM),1,0) -DTP_HAVE_SQLITE=$(if $(HAVE_SQLITE),1,0)
LIBS := -lcjson -lz $(if $(HAVE_PFM),-lpfm) $(if $(HAVE_SQLITE),-lsqlite3) -lpthread -lm

comma := ,

# ---- floors ---------------------------------------------------------------------------------
FLOORS   := wire agent base inject model stack collect import store analyze advise gate report cli
# A floor's files are in its folder, in its rooms, or in the rooms of a room.
in_rooms  = $(wildcard $(1)/$(2) $(1)/*/$(2) $(1)/*/*/$(2))
SOURCES  := $(foreach f,$(FLOORS),$(call in_rooms,src/$(f),*.c))
OBJECTS  := $(SOURCES:src/%.c=$(B)/obj/%.o)
TESTS    := $(call in_rooms,tests/unit/*,test_*.c)
TEST_SOURCES := $(call in_rooms,tests/unit/*,*.c)
TEST_OBJECTS := $(TEST_SOURCES:tests/%.c=$(B)/tests/%.o)
HEADERS  := $(wildcard include/trainprof/*.h include/trainprof/*/*.h)
C_FILES  := $(SOURCES) src/main.c $(TEST_SOURCES) $(wildcard tests/unit/*.c tests/rules/*.c tests/cases/*.c tests/traces/*.c tests/fuzz/*.c tests/programs/*.c tests/programs/*/*.c tests/qemu/*.c tests/bench/*.c tests/doubles/*.c tests/agent/*.c tests/gpu/*.c tests/python/stack_probe.c tests/python/embedded.c tests/python/mark_list.c)

# ---- build ----------------------------------------------------------------------------------
.PHONY: all docs pages help probes
AGENT := $(B)/libtrainprof-agent.so
.DEFAULT_GOAL := all

## all: build trainprof and the library that CUDA loads into measured programs
all: probes trainprof $(AGENT)

probes:
	@$(if $(HAVE_DW),,echo 'missing: dwarf.h (Debian: libdw-dev)' >&2; exit 1)
	@$(if $(HAVE_CJSON),,echo 'missing: cJSON (Debian: libcjson-dev)' >&2; exit 1)
	@$(if $(HAVE_Z),,echo 'missing: zlib (Debian: zlib1g-dev)' >&2; exit 1)
	$(SAY) 'dwarf.h: yes  cJSON: yes  zlib: yes  SQLite: $(or $(HAVE_SQLITE),no (Debian: libsqlite3-dev; import of nsys exports))  libpfm4: $(or $(HAVE_PFM),no (Debian: libpfm4-dev; CPU event names))  Check: $(or $(HAVE_CHECK),no (Debian: check; unit tests))'

trainprof: $(B)/trainprof
	$(Q)ln -sf $< $@

$(B)/trainprof: $(B)/obj/main.o $(B)/libtrainprof.a
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/libtrainprof.a: $(OBJECTS)
	$(Q)rm -f $@
	$(Q)ar rcs $@ $^

# These libraries are loaded into other people's programs: they use libc only, export three names,
# are never unloaded, and are built without sanitizers, which those programs lack.
AGENT_CFLAGS := -std=c11 -D_GNU_SOURCE -Iinclude -Isrc $(WARNINGS) -O2 -g -fPIC -fvisibility=hidden
$(AGENT): $(call in_rooms,src/agent,*.c) $(call in_rooms,src/agent,*.h) src/wire/gpu_faults.c $(wildcard include/trainprof/wire/*.h) Makefile
	@mkdir -p $(@D)
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(AGENT_CFLAGS) $(if $(filter 1,$(WERROR)),-Werror) $(CFLAGS) -shared -Wl,-soname,$(@F) -Wl,-z,defs -Wl,-z,nodelete \
		$(LDFLAGS) -o $@ $(filter %.c,$^) -lpthread -ldl

# Written again only if the version or the commit changed.
$(B)/gen/version: FORCE
	@mkdir -p $(@D)
	@[ "$$(cat $@ 2>/dev/null)" = '$(VERSION) $(COMMIT)' ] || echo '$(VERSION) $(COMMIT)' > $@
.PHONY: FORCE

$(B)/obj/base/version.o: $(B)/gen/version
$(B)/obj/base/version.o: PROBED_CFLAGS += -DBUILD_VERSION='"$(VERSION)"' -DBUILD_COMMIT='"$(COMMIT)"' \
	-DBUILD_WITH='"cJSON", "zlib", $(if $(HAVE_SQLITE),"SQLite"$(comma)) $(if $(HAVE_PFM),"libpfm4"$(comma)) '

# The JSON Schema is embedded in the program: report --schema prints it.
$(B)/gen/report.schema.inc: docs/report.schema.json
	@mkdir -p $(@D)
	$(Q)od -An -v -tx1 $< | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g' > $@

$(B)/obj/report/json/schema.o: $(B)/gen/report.schema.inc
$(B)/obj/report/json/schema.o: PROBED_CFLAGS += -I$(B)/gen

$(B)/obj/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(SAY) '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/tests/%.o: tests/%.c Makefile
	@mkdir -p $(@D)
	$(SAY) '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-pedantic -I$(B)/tests -Itests/unit -Itests -MMD -MP -c -o $@ $<

# ---- tests: each prints "name: N passed, N failed, N skipped" ------------------------------------
.PHONY: check checkable check-unit check-cli check-rules check-cases check-rule-traces check-traces check-steady golden
# The checks that a change must pass. None of them depends on time: they run in parallel, the
# longest first. Checks that measure running programs are proofs, see below.
GATES := check-unit check-cli check-rule-traces check-replay check-cases check-traces check-programs check-rules \
	check-bench check-agent check-calls check-layers check-headers check-howtos check-singleuse check-mirror check-names check-thresholds check-docs \
	check-pages check-prose check-spdx check-truth check-words check-python-module check-tutorial check-ci
# Gates that .ci/run runs in another of its stages.
LATER ?=
N_CPUS := $(shell nproc)

# Doubles of libraries that this machine lacks: all of NVML, an old driver, one without a needed
# call.
NVML_AGES    := whole old broken
NVML_DOUBLES := $(NVML_AGES:%=$(B)/doubles/%/libnvidia-ml.so.1)
$(B)/doubles/%/libnvidia-ml.so.1: tests/doubles/nvidia_ml.c src/collect/gpu/nvml/nvml_abi.h Makefile
	@mkdir -p $(@D)
	$(SAY) '  DOUBLE  $@'
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -Isrc $(WARNINGS) $(if $(filter 1,$(WERROR)),-Werror) -O1 -g -fPIC -shared -Wl,-soname,$(@F) \
		-DNVML_DOUBLE_AGE=$(if $(filter whole,$*),2,$(if $(filter old,$*),1,0)) -o $@ $< -lpthread

# Doubles of CUDA: a driver, and a CUPTI of 13.0, of 11.8, and one without a needed call; only the
# first samples hardware counters. Under TSan they must be instrumented.
CUDA_DOUBLES := $(B)/doubles/libcuda.so.1 $(NVML_AGES:%=$(B)/doubles/%/libcupti.so.13)
CAPTURE := $(B)/libtrainprof-capture.so
REPLAYED := $(B)/replay $(CAPTURE) $(B)/programs/gpu_launcher $(CUDA_DOUBLES)
DOUBLE_CFLAGS = -std=c11 -D_GNU_SOURCE -Isrc -Itests/doubles $(WARNINGS) $(if $(filter 1,$(WERROR)),-Werror) \
	$(if $(filter tsan,$(VARIANT)),$(CFLAGS_tsan),-O2 -g) -fPIC -shared -Wl,-soname,$(@F)
$(B)/doubles/libcuda.so.1: tests/doubles/cuda_double.c tests/doubles/cuda_calls.c tests/doubles/cuda_double.h Makefile
	@mkdir -p $(@D)
	$(SAY) '  DOUBLE  $@'
	$(Q)$(CC) $(DOUBLE_CFLAGS) -o $@ $(filter %.c,$^) -ldl
$(B)/doubles/%/libcupti.so.13: $(wildcard tests/doubles/*.[ch]) src/agent/cupti/cupti_abi.h src/collect/gpu/counters/pm_abi.h Makefile
	@mkdir -p $(@D)
	$(SAY) '  DOUBLE  $@'
	$(Q)$(CC) $(DOUBLE_CFLAGS) -DCUPTI_DOUBLE_AGE=$(if $(filter whole,$*),2,$(if $(filter old,$*),1,0)) -o $@ \
		tests/doubles/cupti_double.c $(if $(filter whole,$*),tests/doubles/pm_double.c) -lpthread -ldl

# A driver on which NVIDIA's own CUPTI starts.
NULL_DRIVER := $(B)/doubles/null/libcuda.so.1
$(NULL_DRIVER): tests/doubles/null_driver.c Makefile
	@mkdir -p $(@D)
	$(SAY) '  DOUBLE  $@'
	$(Q)$(CC) $(DOUBLE_CFLAGS) -fvisibility=hidden -o $@ $< -ldl

# A tool that is linked with CUPTI; its calls are bound lazily, or all at its start. A third one
# looks them up by name.
OTHER_TOOLS := $(B)/doubles/lazy/libothertool.so $(B)/doubles/bound/libothertool.so $(B)/doubles/named/libothertool.so
$(B)/doubles/%/libothertool.so: tests/doubles/other_tool.c src/agent/cupti/cupti_abi.h $(B)/doubles/whole/libcupti.so.13 Makefile
	@mkdir -p $(@D)
	$(SAY) '  DOUBLE  $@'
	$(Q)$(CC) $(DOUBLE_CFLAGS) $(if $(filter bound,$*),-fno-plt -Wl$(comma)-z$(comma)now -Wl$(comma)-z$(comma)relro,-Wl$(comma)-z$(comma)lazy) \
		$(if $(filter named,$*),-DOTHER_TOOL_BY_NAME) -o $@ $< $(if $(filter named,$*),-ldl,$(B)/doubles/whole/libcupti.so.13)

# A library that the tests inject into running programs.
VISITOR := $(B)/doubles/libvisitor.so
$(VISITOR): tests/doubles/visitor.c Makefile
	@mkdir -p $(@D)
	$(SAY) '  DOUBLE  $@'
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(WARNINGS) $(if $(filter 1,$(WERROR)),-Werror) -O2 -g -fPIC -shared -Wl,-soname,$(@F) -o $@ $<

# One line per suite: SUITE(base_arena) for tests/unit/base/test_arena.c.
$(B)/tests/suites.h: $(TESTS)
	@mkdir -p $(@D)
	@for t in $(TESTS); do echo "$$t" | sed 's,tests/unit/\([^/]*\)/.*test_\(.*\)\.c,SUITE(\1_\2),'; done > $@

$(B)/tests/unit/main.o: $(B)/tests/suites.h

# Some tests measure programs in the folder of the binary.
$(B)/unit: $(B)/tests/unit/main.o $(TEST_OBJECTS) $(B)/libtrainprof.a \
		| $(addprefix $(B)/programs/,blocker fixed_work hollow_stack lock_step ping_pong thread_chains thread_crowd thread_rounds gpu_launcher cuda_ends nvtx_ranges nccl_calls own_workspace steadfast) $(NVML_DOUBLES) $(CUDA_DOUBLES) $(OTHER_TOOLS) $(VISITOR) $(AGENT)
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -ldw -lelf $(LIBS) -Wl,--wrap=_mark_point -lcheck -lsubunit -lrt -lm -lpthread

## check-unit: unit tests; SUITE=floor_file runs one, TIMES=1 prints the time of each suite
check-unit: $(B)/unit
	$(Q)$(B)/unit $(if $(TIMES),--times) --jobs=$$((2 * $(N_CPUS))) $(SUITE)

BENCH := $(B)/bench/paired $(B)/bench/points $(B)/bench/confusion $(B)/bench/recording_speed $(B)/bench/import_speed \
	$(B)/bench/partition_speed $(B)/bench/large_recording $(B)/bench/agent_speed $(B)/bench/join_stress \
	$(if $(HAVE_SQLITE),$(B)/bench/nsys_speed)

# The requirements of the gates.
checkable: trainprof $(AGENT) programs $(BENCH) $(B)/unit $(B)/obj/main.o $(addprefix $(B)/check_,rules cases traces rule_traces) $(REPLAYED)

## check: install missing packages, build, run all gates; four minutes including the build
check: deps
	+@tests/gates.sh --build checkable $(filter-out $(LATER),$(GATES))

## check-steady: all gates N=10 times next to two busy loops, and a table of the results
check-steady: checkable
	+$(Q)tests/checks/repeat.sh $(or $(N),10)

## check-cli: commands against golden files; ONLY=CASE runs one, TIMES=1 prints the time of each
check-cli: $(B)/trainprof programs $(B)/bench/points
	$(Q)tests/cli/run_cases.sh $(B) $(if $(TIMES),--times) --jobs=$(N_CPUS) $(ONLY)

## golden: rewrite the golden files of the commands; ONLY=CASE rewrites one. Read the diff!
golden: $(B)/trainprof programs
	$(Q)GOLDEN=1 tests/cli/run_cases.sh $(B) $(ONLY)

$(B)/check_rules: $(B)/tests/rules/check_rules.o $(B)/libtrainprof.a
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

## check-rules: load rules/, run the cases inside every rule, check texts, sources and speed
check-rules: $(B)/check_rules
	$(Q)$(B)/check_rules rules

$(B)/check_cases: $(patsubst %,$(B)/tests/cases/%.o,check_cases expectation scenes) $(B)/libtrainprof.a
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

## check-cases: advice for published before-and-after cases, healthy runs and scenes, from facts
check-cases: $(B)/check_cases
	$(Q)$(B)/check_cases rules tests/cases

$(B)/check_traces: $(B)/tests/traces/check_traces.o $(B)/libtrainprof.a
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

## check-traces: public traces against their reference answers; TRACES=DIRECTORY
TRACES ?= ../shared/traces
check-traces: $(B)/check_traces
	$(Q)$(B)/check_traces $(TRACES)

## check-truth: compare the printed pages of recorded runs with the facts in their JSON; TRACES=DIRECTORY
.PHONY: check-truth proof-truth
check-truth: $(B)/trainprof
	$(Q)tests/truth/check_truth.sh $(B)/trainprof $(TRACES)

RULE_TRACES := check_rule_traces ruletrace ruletrace_kineto ruletrace_nsys
$(B)/check_rule_traces: $(RULE_TRACES:%=$(B)/tests/traces/%.o) $(B)/libtrainprof.a
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

## check-rule-traces: for each rule that needs traces, import one on which it fires and one on which it does not
check-rule-traces: $(B)/check_rule_traces $(B)/trainprof
	$(Q)$(B)/check_rule_traces $(B)/trainprof rules tests/traces/rules

## check-agent: exports, imports and calls of the library that CUDA loads, and its layouts against CUPTI's headers
.PHONY: check-agent
CUDA_INCLUDE ?= /usr/local/cuda/include
check-agent: $(AGENT)
	$(Q)CC='$(CC)' tests/agent/check_agent.sh $(AGENT) $(CUDA_INCLUDE)

# The agent with a recorder for tests: it also writes CUPTI's buffers into a file.
$(CAPTURE): tests/agent/capture_recorder.c tests/agent/capture.h $(call in_rooms,src/agent,*.c) $(call in_rooms,src/agent,*.h) src/wire/gpu_faults.c $(wildcard include/trainprof/wire/*.h) Makefile
	@mkdir -p $(@D)
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(AGENT_CFLAGS) $(if $(filter 1,$(WERROR)),-Werror) $(CFLAGS) -shared -Wl,--wrap=tp_cupti_library_load \
		-Wl,--wrap=tp_cupti_library_start \
		$(LDFLAGS) -o $@ $(filter %.c,$^) -lpthread -ldl

$(B)/replay: $(addprefix $(B)/tests/agent/,replay.o strides.o synthesis.o) $(B)/libtrainprof.a
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

## check-calls: the double of CUPTI returns the same results as NVIDIA's libraries, by version
.PHONY: check-calls
check-calls: $(CUDA_DOUBLES) $(B)/programs/cupti_calls
	$(Q)tests/agent/check_calls.sh $(B)

## check-replay: decode buffers of CUPTI, synthetic ones of every version and captured ones, and compare the events
.PHONY: check-replay
check-replay: $(REPLAYED)
	$(Q)tests/agent/check_replay.sh $(B)

## check-cupti: the agent with NVIDIA's own CUPTI of ten versions (pip fetches them into build/cupti), on a driver that does nothing
.PHONY: check-cupti check-peers fetch-cupti proof-cupti-ends proof-cupti-start proof-cupti-peers proof-frameworks
CUPTIS ?= build/cupti
check-cupti: $(AGENT) $(NULL_DRIVER) $(B)/unit $(addprefix $(B)/programs/,cuda_ends cupti_calls)
	$(Q)tests/agent/fetch_cupti.sh $(CUPTIS)
	$(Q)CC='$(CC)' tests/agent/check_cupti.sh $(B) $(CUPTIS)

## fetch-cupti: fetch the versions of CUPTI that check-cupti uses
fetch-cupti:
	$(Q)tests/agent/fetch_cupti.sh $(CUPTIS)

## proof-cupti-ends: N=2000 programs that end at random moments with five versions of CUPTI end as without the agent
proof-cupti-ends: $(AGENT) $(NULL_DRIVER) $(B)/programs/cuda_ends
	$(Q)tests/agent/fetch_cupti.sh $(CUPTIS)
	$(Q)tests/agent/cupti_ends.py $(B) $(CUPTIS) $(or $(N),2000)

## proof-cupti-forks: ROUNDS=5 programs with each version fork children while CUPTI starts
.PHONY: proof-cupti-forks
proof-cupti-forks: $(AGENT) $(NULL_DRIVER) $(B)/unit $(addprefix $(B)/programs/,cuda_ends cupti_calls)
	$(Q)tests/agent/fetch_cupti.sh $(CUPTIS)
	$(Q)FORKS=$(or $(ROUNDS),5) CC='$(CC)' tests/agent/check_cupti.sh $(B) $(CUPTIS)

## proof-cupti-start: how much longer cuInit() takes with the agent, ROUNDS=20 times each, beside CUPTI's own start
proof-cupti-start: $(AGENT) $(NULL_DRIVER) $(addprefix $(B)/programs/,cuda_ends cupti_calls)
	$(Q)tests/agent/fetch_cupti.sh $(CUPTIS)
	$(Q)tests/agent/cupti_start.py $(B) $(CUPTIS) $(or $(ROUNDS),20)

## check-peers: the user's profilers beside the agent on the same versions: none loses a record, each ends as without the agent
check-peers: $(AGENT) $(NULL_DRIVER) $(B)/programs/cupti_peers
	$(Q)tests/agent/fetch_cupti.sh $(CUPTIS)
	$(Q)CC='$(CC)' tests/agent/check_peers.sh $(B) $(CUPTIS) 1

## proof-frameworks: CUDA runtime, CuPy, JAX of FRAMEWORKS_PYTHON (and PyTorch, if it has that) end as without tracing; no GPU
proof-frameworks: $(B)/trainprof $(AGENT) $(NULL_DRIVER) $(NVML_DOUBLES)
	$(Q)$(or $(FRAMEWORKS_PYTHON),python3) tests/agent/frameworks.py $(B)

## proof-cupti-peers: profilers beside the agent, ROUNDS=20 times each on three versions of CUPTI: none loses a record
proof-cupti-peers: $(AGENT) $(NULL_DRIVER) $(B)/programs/cupti_peers
	$(Q)tests/agent/fetch_cupti.sh $(CUPTIS)
	$(Q)CC='$(CC)' tests/agent/check_peers.sh $(B) $(CUPTIS) $(or $(ROUNDS),20) 12.8.90 13.3.75 13.4.92

## check-exits: programs with the agent that fork and end in every way, under valgrind
.PHONY: check-exits
check-exits: $(AGENT) $(B)/programs/gpu_launcher $(CUDA_DOUBLES)
	$(Q)tests/agent/check_exits.sh $(B)

# The agent and a program with a sanitizer, which other programs lack.
$(B)/threads/libtrainprof-agent.so: $(call in_rooms,src/agent,*.c) $(call in_rooms,src/agent,*.h) src/wire/gpu_faults.c $(wildcard include/trainprof/wire/*.h) Makefile
	@mkdir -p $(@D)
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(AGENT_CFLAGS) $(CFLAGS_tsan) -shared -Wl,-soname,$(@F) -Wl,-z,nodelete -o $@ $(filter %.c,$^) -lpthread -ldl

$(B)/threads/gpu_launcher: tests/programs/gpu_launcher.c tests/doubles/cuda_double.h Makefile
	@mkdir -p $(@D)
	$(SAY) '  LINK    $@'
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(WARNINGS) $(CFLAGS_tsan) -o $@ $< -lpthread -ldl

.PHONY: check-threads
check-threads: $(addprefix $(B)/threads/,libtrainprof-agent.so gpu_launcher) $(CUDA_DOUBLES)
	$(Q)tests/agent/check_threads.sh $(B)

## proof-room: rings of eight ranks and of 300 processes in a small /dev/shm, beside a loader worker
.PHONY: proof-room
proof-room: trainprof $(AGENT) $(B)/programs/gpu_launcher $(CUDA_DOUBLES) $(NVML_DOUBLES)
	$(Q)tests/agent/proof_room.sh $(B)

# ---- tests on a real GPU ------------------------------------------------------------------------
.PHONY: bundle-gpu check-gpu-script
BUNDLE := $(B)/h200
$(B)/gen/bench.ptx.inc: tests/gpu/bench.ptx
	@mkdir -p $(@D)
	$(Q)od -An -v -tx1 $< | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g' > $@

# Always optimized and without sanitizers: this build measures costs.
GPU_CFLAGS = $(PROGRAM_CFLAGS) -Isrc -I$(B)/gen
$(B)/gpu/gpu_bench: $(addprefix tests/gpu/,gpu_bench.c cuda_driver.c selfcost.c cuda_driver.h cupti_probe.h selfcost.h) $(B)/gen/bench.ptx.inc Makefile
	@mkdir -p $(@D)
	$(SAY) '  PROGRAM $@'
	$(Q)$(CC) $(GPU_CFLAGS) -o $@ $(filter %.c,$^) -lpthread -ldl

$(B)/gpu/cupti_probe.so: tests/gpu/cupti_probe.c tests/gpu/cupti_probe.h $(addprefix src/agent/cupti/,cupti_library.c cupti_copy.c call_names.c cupti_library.h cupti_copy.h call_names.h cupti_abi.h) Makefile
	@mkdir -p $(@D)
	$(SAY) '  PROGRAM $@'
	$(Q)$(CC) $(AGENT_CFLAGS) -shared -o $@ $(filter %.c,$^) -lpthread -ldl

# Finds its libraries in its own folder.
$(B)/gpu/trainprof: $(B)/obj/main.o $(B)/libtrainprof.a
	@mkdir -p $(@D)
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -Wl,--disable-new-dtags,-rpath,'$$ORIGIN' -o $@ $^ $(LIBS)

## bundle-gpu: collect the files that tests/gpu/verify.sh needs on a machine with a GPU in build/release/h200; CARRIED="VERSION=LIBCUPTI ..."
bundle-gpu: $(addprefix $(B)/gpu/,trainprof gpu_bench cupti_probe.so) $(AGENT) $(CAPTURE) $(B)/programs/cuda_ends
	$(Q)tests/gpu/bundle.sh $(B) $(BUNDLE)

## check-gpu-script: run that script on the doubles of CUDA, with phases that crash, hang or are cut
check-gpu-script: bundle-gpu $(CUDA_DOUBLES) $(NULL_DRIVER) $(NVML_DOUBLES) $(B)/programs/gpu_script
	$(Q)tests/gpu/check_verify.sh $(BUNDLE) $(B)/doubles $(B)/programs

# ---- Python stacks, read from outside -------------------------------------------------------------
.PHONY: proof-python check-layouts check-python-module
$(B)/mark_list: tests/python/mark_list.c src/wire/mark_ring.c src/wire/mark_folder.c include/trainprof/wire/mark_ring.h include/trainprof/wire/mark_folder.h
	@mkdir -p $(@D)
	$(SAY) '  PROGRAM $@'
	$(Q)$(CC) $(PROGRAM_CFLAGS) -o $@ $(filter %.c,$^)

## check-python-module: the module "trainprof" under each PYTHONS (python3), with the reader of trainprof
check-python-module: $(B)/mark_list
	$(Q)CC='$(CC)' tests/python/python_module.sh $(B)/mark_list $(or $(PYTHONS),python3)

$(B)/stack_probe: $(B)/tests/python/stack_probe.o $(B)/libtrainprof.a
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/embedded: tests/python/embedded.c
	$(SAY) '  PROGRAM $@'
	$(Q)$(CC) $(PROGRAM_CFLAGS) -o $@ $< -ldl -lpthread

## proof-python: read stacks of every installed CPython, blocked and at three speeds; PYTHONS=PATHS adds some, SAMPLES=10000
proof-python: $(B)/stack_probe $(B)/embedded check-layouts
	$(Q)PYTHONS="$(PYTHONS)" SAMPLES=$(SAMPLES) tests/python/check_python.sh $(B)

## check-layouts: compare the table of CPython's layouts with the installed headers
check-layouts:
	$(Q)CC='$(CC)' tests/python/layouts.sh check

# ---- test programs ---------------------------------------------------------------------------
.PHONY: programs check-programs proof-programs proof-watch proof-qemu proof-inject
# The programs that tests measure: always built as users build them; plain stacks, no frame
# pointers.
PROGRAM_CFLAGS := -std=c11 -D_GNU_SOURCE -Iinclude $(WARNINGS) $(if $(filter 1,$(WERROR)),-Werror) -O2 -g -fomit-frame-pointer
HAVE_OPENMP    := $(call try_link,int main(void){return 0;},-fopenmp)
PROGRAMS := $(patsubst tests/programs/%.c,$(B)/programs/%,$(wildcard tests/programs/*.c)) $(B)/programs/trainer

## programs: build the test programs
programs: $(PROGRAMS) $(NVML_DOUBLES) $(CUDA_DOUBLES) $(AGENT)

$(B)/programs/mlp $(B)/programs/native_loops: PROGRAM_CFLAGS += $(if $(HAVE_OPENMP),-fopenmp,-Wno-unknown-pragmas)
$(B)/programs/%: tests/programs/%.c Makefile
	@mkdir -p $(@D)
	$(SAY) '  PROGRAM $@'
	$(Q)$(CC) $(PROGRAM_CFLAGS) -o $@ $< -lpthread -lm -ldl

$(B)/programs/gpu_script: tests/unit/collect/scriptring.h include/trainprof/wire/gpu_ring.h
$(B)/programs/mark_listener: src/wire/mark_ring.c include/trainprof/wire/mark_ring.h
$(B)/programs/mark_listener: PROGRAM_CFLAGS += src/wire/mark_ring.c
$(B)/programs/trainer: $(wildcard tests/programs/trainer/*.[ch]) include/trainprof/mark.h Makefile
	@mkdir -p $(@D)
	$(SAY) '  PROGRAM $@'
	$(Q)$(CC) $(PROGRAM_CFLAGS) -o $@ $(filter %.c,$^) -lpthread -lm

## check-programs: the test programs behave as documented, and their truth adds up
check-programs: programs
	$(Q)tests/programs/check_trainer.sh $(B)/programs

## proof-programs: the knobs of the test programs change the times that they should
proof-programs: programs
	$(Q)tests/programs/check_trainer.sh $(B)/programs --proofs

## proof-watch: steps by hardware breakpoints against the programs' own clocks
proof-watch: $(B)/trainprof programs
	$(Q)tests/watch/check_watch.sh $(B)

## proof-inject: inject a library into running programs 500 times each; ROUNDS=500
proof-inject: $(B)/bench/join_stress $(VISITOR) $(B)/programs/steadfast
	$(Q)$(B)/bench/join_stress $(or $(ROUNDS),500)

## proof-qemu: counters, paranoid, Yama and quota under another kernel on emulated arm64; V=1 lists all
proof-qemu:
	$(Q)V=$(V) tests/qemu/run.sh build/qemu

## proof-steps: step counts of many shapes of loops; LENGTHS="5 20" STEPS=100 PYTHONS=PATHS SHAPES=NAMES KEEP=DIR
.PHONY: proof-steps
proof-steps: $(B)/trainprof $(B)/programs/native_loops
	$(Q)tests/programs/check_loops.sh $(B) $(SHAPES)

# ---- real programs: darknet, PyTorch, JAX, TensorFlow, MPI; minutes --------------------------------
# ---- faults: failures of a measured program and of trainprof
# -------------------------------------------
.PHONY: check-faults check-faults-quick proof-faults fuzz-recordings
$(B)/faults_probe: $(B)/tests/faults/probe.o
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^

# Without a static libc the rows that need it are skipped.
$(B)/faults_probe_static: tests/faults/probe.c
	-$(Q)$(CC) -O1 -static -w -o $@ $< 2>/dev/null

READERS_WRAP := tp_rules_dir_find tp_rules_dir_load_rest tp_rules_dir_load_patterns tp_rules_dir_rulebook \
	tp_rulebook_free tp_patterns_free tp_analysis_session_open tp_analysis_session_close
$(B)/fuzz_recordings: $(patsubst %,$(B)/tests/faults/%.o,fuzz_recordings mutate_database mutate_document mutate_records readers readers_cache) $(B)/libtrainprof.a
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) $(patsubst %,-Wl$(comma)--wrap=%,$(READERS_WRAP))

## check-faults: all of tests/faults/matrix.txt, one line per row; as root; ONLY=NAME
check-faults: $(B)/trainprof programs $(B)/faults_probe $(B)/faults_probe_static
	$(Q)python3 tests/faults/check_faults.py $(B) $(if $(ONLY),--only=$(ONLY))

check-faults-quick: $(B)/trainprof programs $(B)/faults_probe $(B)/faults_probe_static
	$(Q)python3 tests/faults/check_faults.py $(B) --quick

## proof-faults: a line per figure: matrix, mutator (COUNTS=20000:2000), busy threads, a sleeper, STEADY_SECONDS=3600 of memory
FAULT_SECONDS  ?= 7200
STEADY_SECONDS ?= 3600
COUNTS         ?= 20000:2000
proof-faults: $(B)/trainprof programs $(B)/faults_probe $(B)/faults_probe_static
	+$(Q)$(MAKE) --no-print-directory VARIANT=asan build/asan/fuzz_recordings
	$(Q)BUILD=$(B) FUZZ_SECONDS=$(FAULT_SECONDS) COUNTS=$(COUNTS) STEADY=$(STEADY_SECONDS) SEED=$(SEED) \
		TRACES=$(abspath $(TRACES)) tests/faults/proof_faults.sh

## proof-story: stop a real job in a terminal, fill its disk, kill trainprof, attach, interrupt; PYTHON=PATH has PyTorch
.PHONY: proof-story
proof-story: $(B)/trainprof
	$(Q)python3 tests/faults/proof_story.py $(B) $(or $(STOP_SECONDS),60)

SECONDS ?= 60
SEED    ?= 1
## fuzz-recordings: run all readers on changed recordings, imports and rules under ASan; SECONDS=60 SEED=1
fuzz-recordings: $(B)/trainprof programs
	+$(Q)$(MAKE) --no-print-directory VARIANT=asan build/asan/fuzz_recordings
	$(Q)TRACES=$(abspath $(TRACES)) tests/faults/fuzz_recordings.sh $(B) build/asan/fuzz_recordings $(SECONDS) $(SEED)

.PHONY: proof-real
TORCH_PACKAGES := python3-torch python3-pil python3-numpy python3-venv
REAL_PACKAGES := darknet $(TORCH_PACKAGES) python3-mpi4py openmpi-bin

## proof-real: reports of real trainings against their own clocks; installs frameworks (Debian, PyPI); ONLY=CASE
proof-real: $(B)/trainprof
	-@tests/deps.sh $(REAL_PACKAGES)
	$(Q)ONLY=$(ONLY) tests/real/check_real.sh $(CURDIR)/$(B)/trainprof $(CURDIR)/build/real

## proof-exports: exports are accepted by promtool, pprof, and the libraries of Perfetto, TensorBoard, Prometheus
.PHONY: proof-exports proof-html
proof-exports: $(B)/trainprof programs
	$(Q)tests/exports/proof_exports.sh $(CURDIR)/$(B) $(abspath $(TRACES))

## proof-export-speed: time each export of a million intervals, and the page of ten minutes; ROUNDS=3
.PHONY: proof-export-speed
proof-export-speed: trainprof $(B)/bench/large_recording
	$(Q)tests/bench/export_speed.py $(CURDIR)/$(B) $(or $(ROUNDS),3)

## proof-html: the page in Chromium: three widths, dark, without script, keyboard, search, policy, axe; PICTURES=FOLDER
proof-html: $(B)/trainprof programs
	$(Q)python3 tests/html/proof_html.py $(CURDIR)/$(B) $(abspath $(TRACES))

## proof-view: the viewer on a recording of ten minutes and 500 threads: opening, keys, memory
.PHONY: proof-view
proof-view: trainprof $(B)/bench/large_recording
	$(Q)tests/bench/view_speed.py $(CURDIR)/$(B)

## proof-import: traces of JAX and TensorFlow (PyPI) imported beside live runs of the same processes; STEPS=400, ONLY=jax
.PHONY: proof-import
proof-import: $(B)/trainprof
	$(Q)tests/imports/proof_import.sh $(CURDIR)/$(B)/trainprof $(CURDIR)/build/imports $(or $(STEPS),400) $(ONLY)

## proof-captures: device sums of seven public captures against answers of other tools; CAPTURES=FOLDER that holds them
.PHONY: proof-captures
proof-captures: $(B)/trainprof
	$(Q)tests/imports/public_captures.py $(B)/trainprof "$(or $(CAPTURES),build/captures)"

## proof-tables: job tables of pyarrow, DuckDB and Spark (PyPI) against ours; merge of 100,000 digests; DIGESTS=N
.PHONY: proof-tables
proof-tables: $(B)/trainprof
	$(Q)tests/ranks/proof_tables.sh $(B)/trainprof $(or $(DIGESTS),100000)

## proof-ranks: find late ranks in 60 jobs of 2 to 8 ranks that time themselves; STEPS=200 RANKS=2,3 WAYS=inside,outside ONLY="sleep link"
.PHONY: proof-ranks
proof-ranks: $(B)/trainprof
	-@tests/deps.sh openmpi-bin python3-mpi4py python3-torch iproute2
	$(Q)/usr/bin/python3 tests/ranks/proof_ranks.py $(B)/trainprof --steps=$(or $(STEPS),200) \
		--ranks=$(RANKS) $(if $(WAYS),--ways=$(WAYS)) $(ONLY)

## proof-truth: check-truth for slow programs and their fixed versions; SLOW=DIRECTORY, ONLY=CASE
SLOW ?= ../shared/slow-programs
proof-truth: $(B)/trainprof
	$(Q)tests/truth/proof_truth.sh $(CURDIR)/$(B)/trainprof $(abspath $(SLOW)) $(ONLY)

## proof-remedies: is the remedy named for slow programs, and not for their fixed versions; ONLY="NAME ..."
.PHONY: proof-remedies
proof-remedies: $(B)/trainprof
	$(Q)work=$$(mktemp -d) && trap 'rm -rf "$$work"' EXIT && \
	python3 tests/remedies/proof_remedies.py $(CURDIR)/$(B)/trainprof "$$work" $(ONLY)

## proof-replay: compare the prediction of a loader's replay with the clocks of both versions; ONLY="NAME ..." ROUNDS=3
.PHONY: proof-replay
proof-replay: $(B)/trainprof
	$(Q)work=$$(mktemp -d) && trap 'rm -rf "$$work"' EXIT && \
	python3 tests/remedies/proof_replay.py $(CURDIR)/$(B)/trainprof "$$work" $(ONLY)

# ---- proofs: they measure running programs, on an otherwise idle machine; minutes
# -------------------
.PHONY: proofs proof-unit proof-gate proof-cli proof-rules
PROOFS := proof-unit proof-gate proof-cli proof-rules proof-programs proof-inject proof-python proof-qemu proof-real \
	proof-truth proof-faults proof-watch proof-remedies proof-replay proof-ranks proof-tutorial proof-tables \
	proof-ci-formats proof-pairs proof-promises

## proofs: run all proofs, one after the other
proofs: checkable
	+$(Q)tests/gates.sh --jobs=1 $(PROOFS)

## proof-unit: unit tests of live measuring: shares, costs, times; SUITE=floor_file runs one
proof-unit: $(B)/unit
	$(Q)$(B)/unit --proofs $(if $(TIMES),--times) $(SUITE)

## proof-gate: thousands of simulated pairs of runs, and histories: coverage, false alarms, power
proof-gate: $(B)/unit
	$(Q)$(B)/unit --proofs gate_estimate gate_pairs gate_history

## proof-cli: commands whose golden files contain measured values (tests/cli/proofs.txt); ONLY=CASE runs one
proof-cli: $(B)/trainprof programs $(B)/bench/points
	$(Q)tests/cli/run_cases.sh $(B) --proofs $(if $(TIMES),--times) $(ONLY)

## proof-rules: measure loading and judging all rules
proof-rules: $(B)/check_rules
	$(Q)$(B)/check_rules rules --speed

# ---- bench: not a test, takes minutes -----------------------------------------------------------
.PHONY: check-bench proof-cost bench bench-import bench-makers bench-python bench-agent grid confusion gains gains-python
.SECONDARY: $(BENCH:$(B)/%=$(B)/tests/%.o)
$(B)/bench/%: $(B)/tests/bench/%.o $(B)/libtrainprof.a
	@mkdir -p $(@D)
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter-out %.a,$^) $(filter %.a,$^) $(LIBS)

## check-bench: check the arithmetic of the bench
check-bench: $(BENCH)
	$(Q)tests/bench/check_bench.sh $(B)/bench

## bench: cost of trainprof, against perf; ROUNDS=5, BENCH_S=10: seconds of a program
bench: trainprof programs $(BENCH)
	$(Q)tests/bench/bench.sh $(CURDIR)/trainprof $(B)/programs $(B)/bench $(ROUNDS)
	$(Q)TRACES=$(TRACES) tests/bench/import_rate.sh $(CURDIR)/trainprof $(B)/bench $(IMPORT_MB)
	$(Q)TRACES=$(TRACES) tests/bench/maker_rate.sh $(B)/bench

## bench-import: speed of importing traces; IMPORT_MB=1000
bench-import: trainprof $(BENCH)
	$(Q)TRACES=$(TRACES) tests/bench/import_rate.sh $(CURDIR)/trainprof $(B)/bench $(IMPORT_MB)

## bench-makers: speed and memory of importing other makers' traces beside Kineto's and nsys's; EVENTS=600000, ROUNDS=5, BASE=OTHER_IMPORT_SPEED
bench-makers: $(BENCH)
	$(Q)TRACES=$(TRACES) tests/bench/maker_rate.sh $(B)/bench $(or $(EVENTS),600000) $(or $(ROUNDS),5) $(BASE)

## bench-python: cost of trainprof, austin and py-spy for PyTorch with two workers; ROUNDS=9, BENCH_STEPS=160
bench-python: trainprof $(BENCH)
	-@tests/deps.sh $(TORCH_PACKAGES)
	$(Q)tests/bench/python_cost.sh $(CURDIR)/trainprof $(B)/bench $(CURDIR)/build/bench-python $(ROUNDS)

## proof-cost: trainprof's own CPU time on real programs, samples per second, whole stacks; BASE=OTHER_TRAINPROF, ROUNDS=3, ONLY=TEXT
proof-cost: trainprof
	$(Q)tests/bench/own_cost.py $(CURDIR)/trainprof $(BASE) --rounds $(or $(ROUNDS),3) --only '$(ONLY)' --limit 0.5

## bench-agent: cost per record of the library in programs that use a GPU, on the doubles of CUDA
bench-agent: $(B)/bench/agent_speed $(CUDA_DOUBLES)
	$(Q)$(B)/bench/agent_speed $(B)/doubles

## grid: attribution against the trainer's truth, in points; ONLY=TEXT picks rows
grid: trainprof programs $(BENCH)
	$(Q)tests/bench/grid.sh $(CURDIR)/trainprof $(B)/programs $(B)/bench $(ONLY)

## confusion: compare the label of each piece of time with the trainer's own marks; KNOBS="--threads 2 --workers 2"
confusion: trainprof programs $(BENCH)
	$(Q)tests/bench/confusion.sh $(CURDIR)/trainprof $(B)/programs $(B)/bench $(KNOBS)

## gains: promised gains of advice against the measured ones; ONLY=TEXT picks rules
gains: trainprof programs
	$(Q)tests/bench/gains.sh $(CURDIR)/trainprof $(B)/programs $(ONLY)

## gains-python: the same for loops of PyTorch; ONLY=TEXT picks rules
gains-python: trainprof
	-@tests/deps.sh $(TORCH_PACKAGES)
	$(Q)tests/bench/gains_python.sh $(CURDIR)/trainprof $(CURDIR)/build/gains-python $(ONLY)

# ---- sensitivity: the effect of moving each threshold of analysis; not a test, takes half an hour
# --
.PHONY: sensitivity
SENSITIVE := $(filter $(B)/obj/analyze/%,$(OBJECTS))
SENSITIVE := $(SENSITIVE:$(B)/obj/%=$(B)/sensitivity/%) $(B)/tests/bench/sensitivity.o
$(B)/sensitivity/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(SAY) '  CC      $<, thresholds variable'
	$(Q)$(CC) $(ALL_CFLAGS) -DTP_THRESHOLDS_VARIABLE -MMD -MP -c -o $@ $<

$(B)/sensitivity/unit: $(B)/tests/unit/main.o $(TEST_OBJECTS) $(SENSITIVE) $(B)/libtrainprof.a
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -Wl,--wrap=_mark_point -o $@ $^ -ldw -lelf $(LIBS) -lcheck -lsubunit -lrt -lm -lpthread

$(B)/sensitivity/check_traces: $(B)/tests/traces/check_traces.o $(SENSITIVE) $(B)/libtrainprof.a
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/sensitivity/trainprof: $(B)/obj/main.o $(SENSITIVE) $(B)/libtrainprof.a
	$(SAY) '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

## sensitivity: halve and double each threshold of analysis, and write the number of failures into its row; ONLY=NAME
sensitivity: $(addprefix $(B)/sensitivity/,unit check_traces trainprof) $(B)/check_rule_traces
	$(Q)tests/bench/sensitivity.sh $(B)/sensitivity $(TRACES) $(ONLY)
	$(Q)$(MAKE) --no-print-directory docs/thresholds.md

# ---- house checks: seconds, no build --------------------------------------------------------------
.PHONY: check-layers check-headers check-howtos check-singleuse check-mirror check-names check-thresholds check-docs check-pages check-prose check-spdx check-words

## check-layers: floors and rooms use only what docs/architecture.md allows, and no files need each other in a circle
check-layers: $(B)/libtrainprof.a $(B)/obj/main.o
	$(Q)tests/checks/layers.sh $(B)

## check-headers: every header compiles alone; include/ contains exactly the public headers
check-headers:
	$(Q)CC='$(CC)' tests/checks/headers.sh

## check-howtos: the source files that how-tos show compile
check-howtos:
	$(Q)CC='$(CC)' tests/checks/howtos.sh

## check-singleuse: no function is visible in more files than need it
check-singleuse: $(B)/libtrainprof.a $(B)/obj/main.o
	$(Q)tests/checks/singleuse.sh $(B)

## check-mirror: tests/unit mirrors src
check-mirror:
	$(Q)tests/checks/mirror.sh

## check-names: a file name is used once and has a meaning
check-names:
	$(Q)tests/checks/names.sh

## check-thresholds: every threshold of analysis and comparisons is in its table
check-thresholds:
	$(Q)tests/checks/threshold_rows.sh

## check-pages: links in documents are valid, and their lines are at most 100 columns wide
check-pages:
	$(Q)tests/checks/pages.sh

## check-prose: comments, messages, rules and documents are in plain English, as far as that can be counted
check-prose:
	$(Q)tests/checks/prose/prose.py

## check-spdx: every source file names its licence
check-spdx:
	$(Q)tests/checks/spdx.sh

## check-words: names consist of known words, no struct is defined twice, no folder has more than 40 files
check-words:
	$(Q)tests/checks/words.sh

## check-docs: the pages in docs/ that the program generates are up to date
check-docs: $(B)/trainprof
	$(Q)tests/checks/docs.sh $(B)/trainprof

# The commands of these pages are run, and their output is compared with the pages.
TUTORIAL := $(wildcard docs/tutorial/*.md)
PAGES_RUN = python3 tests/tutorial/pages.py
## check-tutorial: the commands of the tutorials print what the pages show, from committed recordings
check-tutorial: $(B)/trainprof
	$(Q)$(PAGES_RUN) $(B) $(TUTORIAL)

## check-ci: parse the files of docs/ci, and run their shell lines on recorded runs
check-ci: $(B)/trainprof
	$(Q)tests/ci/ci_files.py $(B)

## proof-ci-formats: files for CI systems against public schemas and parsers (PyPI): SARIF, JUnit, GitHub, GitLab
.PHONY: proof-ci-formats
proof-ci-formats: $(B)/trainprof
	$(Q)tests/ci/public_formats.py $(B) $(CURDIR)/build/ci

PAIR_SECONDS ?= 75
## proof-pairs: false alarms and power of comparisons on real runs of one program; KIND="quiet" adds a piece of it
.PHONY: proof-pairs proof-promises
proof-pairs: $(B)/trainprof $(B)/bench/judge_pairs
	$(Q)tests/pairs/real_pairs.py measure $(CURDIR)/$(B)/trainprof build/pairs $(PAIR_SECONDS) $(if $(KIND),"$(KIND)")
	$(Q)tests/pairs/real_pairs.py judge $(B)/bench/judge_pairs build/pairs

## proof-promises: advice for real programs, followed by `try` or by hand: promised beside measured; ONLY="CASE"
proof-promises: $(B)/trainprof
	$(Q)tests/pairs/promises.py $(B)/trainprof $(CURDIR)/build/promises $(if $(ONLY),"$(ONLY)")

## proof-tutorial: measure the tutorials; needs PyTorch; WRITE=1 renews pages and recordings; TUTORIAL_PYTHON=PATH
proof-tutorial: $(B)/trainprof
	$(Q)$(PAGES_RUN) --live $(if $(WRITE),--write) $(B) $(TUTORIAL)

# ---- other variants ---------------------------------------------------------------------------
.PHONY: asan clang tsan valgrind coverage
# Suites in which threads or processes share memory.
TSAN_SUITES := wire_mark_ring base_log base_stream import_rank_writer import_import collect_nvml_thread \
	agent_buffer_pool agent_cupti_session agent_nvtx_queue agent_nvtx_names agent_nvtx_ranges
# Commands that together record, import, judge, report, attach and end early.
ASAN_CASES := 'advise_*' check_budget diff_messages import_messages import_report import_straggler report_schema rules_check guide_plan run_short \
	run_full_disk run_signal_forward attach_ends

## asan: unit tests, and some commands, under AddressSanitizer and UBSan
asan:
	+$(Q)tests/gates.sh VARIANT=asan --build asan-built check-unit asan-cli

.PHONY: asan-built asan-cli
asan-built: trainprof programs $(B)/unit $(B)/bench/points
asan-cli: $(B)/trainprof programs $(B)/bench/points
	$(Q)tests/cli/run_cases.sh $(B) --jobs=$(N_CPUS) $(ASAN_CASES)

## clang: compile everything with clang; nothing is run
clang:
	+$(Q)$(MAKE) --no-print-directory VARIANT=clang checkable

## tsan: the suites where threads meet, under ThreadSanitizer
tsan:
	+$(Q)$(MAKE) --no-print-directory VARIANT=tsan check-unit check-threads SUITE='$(TSAN_SUITES)'

## valgrind: unit tests under memcheck; slow
valgrind: $(B)/unit
	$(Q)CK_FORK=no CK_DEFAULT_TIMEOUT=0 valgrind -q --error-exitcode=9 --leak-check=no $(B)/unit $(SUITE)

## coverage: lines that the unit tests reach
coverage:
	$(Q)$(MAKE) --no-print-directory VARIANT=coverage check-unit
	$(Q)cd build/coverage/obj && for d in $$(find * -type d); do \
		gcov -n $$d/*.gcda 2>/dev/null | awk -v d=$$d \
		'/^File .src/ {own = 1} /^Lines/ && own {split($$2, a, /[:%]/); n += $$4; hit += a[2] * $$4 / 100; own = 0} \
		END {if (n) printf "%-9s %5d lines, %3.0f %% reached\n", d, n, 100 * hit / n}'; done

# ---- fuzzing: clang's libFuzzer ------------------------------------------------------------------
.PHONY: fuzz fuzzers
FUZZ_SECONDS ?= 60
FUZZERS := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

build/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(if $(filter fuzz,$(VARIANT)),$(B)/libtrainprof.a)
	@mkdir -p $(@D)
	$(SAY) '  FUZZER  $@'
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $(filter-out %.a,$^) $(filter %.a,$^) $(LIBS)

fuzzers:
	$(Q)$(MAKE) --no-print-directory VARIANT=fuzz $(FUZZERS)

## fuzz: each harness for FUZZ_SECONDS (60), or the same FUZZ_RUNS inputs; ONLY=NAME runs fuzz_NAME
fuzz: fuzzers
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_RUNS=$(FUZZ_RUNS) tests/fuzz/run_fuzzers.sh $(if $(ONLY),build/fuzz/fuzz_$(ONLY),$(FUZZERS))

# The tree is formatted with version 14; any other version is better than none.
found = $(or $(shell command -v $(1)-14 || command -v $(1) || \
	for n in 13 15 16 17 18 19 20 21 22; do command -v $(1)-$$n && break; done),$(1))
CLANG_FORMAT ?= $(call found,clang-format)
CLANG_TIDY   ?= $(call found,clang-tidy)

# ---- style ------------------------------------------------------------------------------------
.PHONY: tidy tidy-changed format format-check cppcheck shellcheck measure
STYLED := $(C_FILES) $(HEADERS) $(call in_rooms,src/*,*.h) $(wildcard tests/traces/*.h tests/unit/*.h tests/unit/*/*.h tests/doubles/*.h tests/agent/*.h tests/gpu/*.h tests/programs/*/*.h)
TIDIED := $(SOURCES) src/main.c

build/tidy/%.ok: %.c .clang-tidy $(HEADERS) $(call in_rooms,src/*,*.h)
	@mkdir -p $(@D)
	$(SAY) '  TIDY    $<'
	$(Q)$(CLANG_TIDY) --quiet $< -- $(ALL_CFLAGS) -Ibuild/release/gen -DBUILD_VERSION='""' -DBUILD_COMMIT='""' -DBUILD_WITH='""' 2>$@.log || \
		{ cat $@.log; exit 1; }
	@touch $@

## tidy: clang-tidy over all of src, no warning allowed
tidy: $(TIDIED:%.c=build/tidy/%.ok)
	@echo 'tidy: $(words $(TIDIED)) passed, 0 failed, 0 skipped'

## tidy-changed: clang-tidy over the files that differ from the parent commit
tidy-changed:
	+$(Q)$(MAKE) --no-print-directory tidy TIDIED="$$(tests/checks/changed.sh | tr '\n' ' ')"

## format: format all C files
format:
	$(Q)$(CLANG_FORMAT) -i $(STYLED)

## format-check: check the format of all C files
format-check:
	$(Q)$(CLANG_FORMAT) --dry-run -Werror $(STYLED)

## cppcheck: run cppcheck; advice, not a gate
cppcheck:
	$(Q)cppcheck -q -j2 --std=c11 --enable=warning,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem -D_GNU_SOURCE -Iinclude $(SOURCES)

## shellcheck: check the shell scripts
shellcheck:
	$(Q)shellcheck -x -S warning .ci/run $(shell find tests packaging -name '*.sh')

## measure: sizes, the longest functions and files
measure:
	$(Q)tests/checks/measure.sh $(B)/trainprof

# ---- install ----------------------------------------------------------------------------------
.PHONY: install check-install uninstall dist clean
bindir     := $(DESTDIR)$(PREFIX)/bin
libdir     := $(DESTDIR)$(PREFIX)/lib/trainprof
datadir    := $(DESTDIR)$(PREFIX)/share
includedir := $(DESTDIR)$(PREFIX)/include
COMPLETER = $(B)/trainprof
COMPLETIONS := bash-completion/completions/trainprof zsh/site-functions/_trainprof fish/vendor_completions.d/trainprof.fish

$(B)/trainprof.1: docs/trainprof.1.md docs/roff.awk
	@mkdir -p $(@D)
	$(Q)awk -f docs/roff.awk $< > $@

# The files that a reader of the tutorials works on.
TUTORIAL_FILES := $(wildcard $(addprefix docs/tutorial/,*.py *.sh *.patch *.json *.gz))
## install: into PREFIX (/usr/local), below DESTDIR
install: $(B)/trainprof $(AGENT) $(B)/trainprof.1
	install -d $(bindir) $(libdir) $(datadir)/trainprof $(includedir)/trainprof $(dir $(COMPLETIONS:%=$(datadir)/%))
	install -m 755 $(B)/trainprof $(bindir)/trainprof
	install -m 755 $(AGENT) $(libdir)/libtrainprof-agent.so
	install -m 644 include/trainprof/mark.h $(includedir)/trainprof/mark.h
	cd rules && find . -name '*.json' -exec install -D -m 644 {} $(abspath $(datadir))/trainprof/rules/{} ';'
	cd src/python && find . -name '*.py' -exec install -D -m 644 {} $(abspath $(datadir))/trainprof/python/{} ';'
	cd src/sql && find . -name '*.sql' -exec install -D -m 644 {} $(abspath $(datadir))/trainprof/sql/{} ';'
	$(if $(wildcard docs/report.schema.json),install -m 644 docs/report.schema.json $(datadir)/trainprof/report.schema.json)
	install -d $(datadir)/trainprof/tutorial
	install -m 644 $(filter-out %.sh,$(TUTORIAL_FILES)) $(datadir)/trainprof/tutorial
	install -m 755 $(filter %.sh,$(TUTORIAL_FILES)) $(datadir)/trainprof/tutorial
	cd docs/tutorial/mnist && find . -name __pycache__ -prune -o -type f -exec install -D -m 644 {} $(abspath $(datadir))/trainprof/tutorial/mnist/{} ';'
	chmod 755 $(datadir)/trainprof/tutorial/mnist/ci.sh
	install -m 644 docs/facts.schema.json $(datadir)/trainprof/facts.schema.json
	install -m 644 $(addprefix docs/,$(addsuffix .schema.json,plan diff job budget check pairs trials history)) $(datadir)/trainprof
	install -D -m 644 $(B)/trainprof.1 $(datadir)/man/man1/trainprof.1
	for shell in bash zsh fish; do for file in $(COMPLETIONS:%=$(datadir)/%); do case $$file in *$$shell*) \
		$(COMPLETER) completion $$shell > $$file || rm -f $$file;; esac; done; done

## check-install: an installed trainprof runs, and uninstall leaves nothing
check-install: $(B)/trainprof
	$(Q)tests/checks/installed.sh $(B)

## uninstall: remove the installed files
uninstall:
	rm -f $(bindir)/trainprof $(includedir)/trainprof/mark.h $(datadir)/man/man1/trainprof.1 $(COMPLETIONS:%=$(datadir)/%)
	rm -rf $(datadir)/trainprof $(libdir)

## dist: a tarball of the committed tree
dist:
	@mkdir -p build
	git archive --prefix=trainprof-$(VERSION)/ -o build/trainprof-$(VERSION).tar.gz HEAD
	@echo build/trainprof-$(VERSION).tar.gz

# ---- packages that run on other machines than the one they were built on -----------------------
.PHONY: portable archive wheel deb check-packages proof-packages
ARCH ?= x86_64
# Compiler, libraries and their sources; a folder elsewhere outlives make clean.
KITS ?= build/packages
KIT  := $(KITS)/$(ARCH)
# In a build folder of its own, with the compiler and the libraries of the kit.
PORTABLE = $(MAKE) --no-print-directory VARIANT=portable B=build/portable-$(ARCH) CC=$(abspath $(KIT))/cc \
	CFLAGS='-isystem $(abspath $(KIT))/include' LDFLAGS='-s -L$(abspath $(KIT))/lib'
PACK = python3 packaging/pack.py --version=$(VERSION) --arch=$(ARCH) --time=$(shell git log -1 --format=%ct 2>/dev/null || echo 0)

## portable: trainprof for glibc 2.17 and newer, ARCH=x86_64 or aarch64, below build/portable-ARCH; ALSO="FILES" there
portable:
	$(Q)packaging/compiler.sh $(ARCH) $(KIT)
	$(Q)packaging/libraries.sh $(ARCH) $(KIT)
	+$(Q)$(PORTABLE) $(addprefix build/portable-$(ARCH)/,trainprof libtrainprof-agent.so $(ALSO))

# The files of make install, in a folder. The program writes its completions; for another processor
# that of this machine does.
COMPLETING = $(if $(filter $(shell uname -m),$(ARCH)),build/portable-$(ARCH),$(B))/trainprof
staged: portable $(if $(filter $(shell uname -m),$(ARCH)),,$(B)/trainprof)
	@rm -rf $(KIT)/stage
	+$(Q)$(PORTABLE) -s install PREFIX=/ DESTDIR=$(abspath $(KIT))/stage COMPLETER=$(abspath $(COMPLETING))
	$(Q)install -d $(KIT)/stage/share/doc/trainprof
	$(Q)cp -r LICENSE $(KIT)/licenses $(KIT)/versions.txt $(KIT)/stage/share/doc/trainprof/
.PHONY: staged

## archive: build/trainprof-VERSION-linux-ARCH.tar.gz, a folder that runs anywhere
archive: staged
	$(Q)$(PACK) archive $(KIT)/stage build

## wheel: build/trainprof-VERSION-py3-none-manylinux….whl for pip, ARCH=x86_64 or aarch64
wheel: staged
	$(Q)$(PACK) wheel $(KIT)/stage build

## deb: build/trainprof_VERSION_ARCH.deb for dpkg, ARCH=x86_64 or aarch64
deb: staged
	$(Q)$(PACK) deb $(KIT)/stage build

## check-packages: archive and wheel of the local build are complete and reproducible
check-packages: $(B)/trainprof $(AGENT)
	$(Q)tests/checks/packages.sh $(B)

## proof-packages: build wheel and archive, install them into environments of all Pythons found, run them under an old glibc
proof-packages:
	$(Q)tests/packages/proof.sh

## clean: remove all build outputs
clean:
	rm -rf build trainprof

# ---- packages and the first minutes ---------------------------------------------------------------
.PHONY: deps demo
PACKAGES := gcc libc6-dev libdw-dev libelf-dev libcjson-dev zlib1g-dev libsqlite3-dev libpfm4-dev check

## deps: install the missing Debian packages, or print the command that would
deps:
	@tests/deps.sh $(PACKAGES)

## demo: install missing packages, build, and run trainprof on the bundled trainer
demo: deps
	@echo 'building trainprof and the programs it is tried on: half a minute'
	$(Q)$(MAKE) --no-print-directory -s all programs
	$(Q)tests/demo.sh $(B)

## docs: generate pages, and copy a real summary into README.md
docs: pages programs
	$(Q)docs/make_docs.sh $(CURDIR)/trainprof $(B)/programs

# The thresholds of analysis with the effect of moving each, and those of comparisons.
COMPARISONS := include/trainprof/model/gate_thresholds.def
docs/thresholds.md: src/analyze/thresholds.def $(COMPARISONS) tests/bench/sensitivity.awk tests/bench/gate_thresholds.awk
	$(Q)awk -v WHAT=page -f tests/bench/sensitivity.awk $< > $@
	$(Q)awk -f tests/bench/gate_thresholds.awk $(COMPARISONS) >> $@

## pages: the part of docs/ that is generated without measuring: facts, their schema, thresholds, the guide, tutorials
pages: trainprof docs/thresholds.md
	$(Q)docs/facts.sh ./trainprof > build/page && mv build/page docs/facts.md
	$(Q)./trainprof advise --schema > build/page && mv build/page docs/facts.schema.json
	$(Q)rm -rf docs/guide && mkdir docs/guide && ./trainprof guide --write docs/guide
	$(Q)$(PAGES_RUN) --write $(B) $(TUTORIAL)

## help: print this list
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

-include $(OBJECTS:.o=.d) $(TEST_OBJECTS:.o=.d) $(wildcard $(B)/sensitivity/*/*/*.d $(B)/tests/bench/*.d $(B)/tests/rules/*.d $(B)/tests/cases/*.d $(B)/tests/traces/*.d \
	$(B)/tests/python/*.d $(B)/tests/faults/*.d)
