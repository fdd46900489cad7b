/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of walks through real stacks whose callers are known. */
#include "stack/capture.h"
#include "stack/symbols/module.h"

#include <alloca.h>
#include <elf.h>
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

static struct capture taken;
static void *glibc_says[128];
static int n_glibc_says;

KEEP static void leaf_captures(void)
{
	capture_here(&taken);
	n_glibc_says = backtrace(glibc_says, 128);
	AFTER_CALL();
}

KEEP static int chain_c(int n)
{
	leaf_captures();
	AFTER_CALL();
	return n + 1;
}

KEEP static int chain_b(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += chain_c(i);
	AFTER_CALL();
	return sum;
}

KEEP static int chain_a(int n)
{
	volatile char room[300];
	room[n] = 1;
	int sum = chain_b(n) + room[n];
	AFTER_CALL();
	return sum;
}

static void expect_chain(const struct unwound *u, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ck_assert_str_eq(unwound_name(u, i), names[i]);
}

/* Compares with libgcc's unwinder, which reads the same tables with other code. */
static void expect_as_glibc(struct unwound *u, size_t n_least)
{
	struct tp_stack_frame said[128];
	size_t shift = 0;
	for (int i = 0; i < n_glibc_says; i++) {
		tp_maps_find(u->maps, (uint64_t)(uintptr_t)glibc_says[i], 0, &said[i]);
		/* backtrace() has another address in frame 0; a sanitizer adds a frame of its
		 * own. */
		if (shift == 0 && said[i].address == u->frames[1].address)
			shift = (size_t)i - 1;
	}
	ck_assert_uint_eq(u->result.n_frames, (size_t)n_glibc_says - shift);
	ck_assert_uint_ge(u->result.n_frames, n_least);
	for (size_t i = 1; i < u->result.n_frames; i++) {
		ck_assert_ptr_eq(u->frames[i].module, said[i + shift].module);
		ck_assert_uint_eq(u->frames[i].address, said[i + shift].address);
		ck_assert_uint_eq(u->frames[i].flags & TP_FRAME_GUESSED, 0);
	}
}

START_TEST(walk_names_the_known_callers_up_to_start)
{
	static const char *const names[] = {"leaf_captures", "chain_c", "chain_b", "chain_a"};
	struct unwound u;
	chain_a(1);
	unwound_init(&u);
	unwound_walk(&u, &taken);
	expect_chain(&u, names, 4);
	ck_assert_int_eq(u.result.end, TP_UNWIND_COMPLETE);
	ck_assert_uint_eq(u.result.n_guessed, 0);
	ck_assert_str_eq(unwound_name(&u, u.result.n_frames - 1), "_start");
	unwound_find(&u, "main", 4);
	expect_as_glibc(&u, 6);
	unwound_release(&u);
}
END_TEST

static int compare_and_capture(const void *a, const void *b)
{
	leaf_captures();
	AFTER_CALL();
	return *(const int *)a - *(const int *)b;
}

START_TEST(walk_crosses_libraries)
{
	int values[] = {2, 1};
	struct unwound u;
	qsort(values, 2, sizeof(int), compare_and_capture);
	unwound_init(&u);
	unwound_walk(&u, &taken);
	ck_assert_str_eq(unwound_name(&u, 1), "compare_and_capture");
	size_t in_libc = 2;
	ck_assert_ptr_nonnull(strstr(u.frames[in_libc].module->name, "libc.so"));
	unwound_find(&u, "walk_crosses_libraries_fn", 3);
	ck_assert_int_eq(u.result.end, TP_UNWIND_COMPLETE);
	ck_assert(u.result.is_root_known);
	expect_as_glibc(&u, 6);
	unwound_release(&u);
}
END_TEST

KEEP static void *thread_body(void *arg)
{
	chain_a(1);
	AFTER_CALL();
	return arg;
}

START_TEST(walk_of_a_thread_ends_at_clone)
{
	pthread_t thread;
	struct unwound u;
	ck_assert_int_eq(pthread_create(&thread, NULL, thread_body, NULL), 0);
	pthread_join(thread, NULL);
	unwound_init(&u);
	unwound_walk(&u, &taken);
	size_t body = unwound_find(&u, "thread_body", 3);
	ck_assert_uint_le(body, 5);
	ck_assert_int_eq(u.result.end, TP_UNWIND_COMPLETE);
	expect_as_glibc(&u, 6);
	unwound_release(&u);
}
END_TEST

static void handler_captures(int signal_number)
{
	(void)signal_number;
	leaf_captures();
	AFTER_CALL();
}

KEEP static int interrupted(volatile int *at)
{
	int value = *at; /* faults; the frame below the handler is at this instruction */
	AFTER_CALL();
	return value;
}

KEEP static void on_usr1(void)
{
	raise(SIGUSR1);
	AFTER_CALL();
}

START_TEST(walk_crosses_a_signal_frame)
{
	struct unwound u;
	signal(SIGUSR1, handler_captures);
	on_usr1();
	signal(SIGUSR1, SIG_DFL);
	unwound_init(&u);
	unwound_walk(&u, &taken);
	ck_assert_str_eq(unwound_name(&u, 1), "handler_captures");
	unwound_find(&u, "on_usr1", 3);
	ck_assert_int_eq(u.result.end, TP_UNWIND_COMPLETE);
	expect_as_glibc(&u, 8);
	unwound_release(&u);
}
END_TEST

static void *fault_page;
static void handler_repairs(int signal_number)
{
	handler_captures(signal_number);
	mprotect(fault_page, 4096, PROT_READ | PROT_WRITE);
}

START_TEST(interrupted_address_is_not_taken_for_a_return_address)
{
	struct unwound u;
	fault_page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, handler_repairs);
	interrupted(fault_page);
	signal(SIGSEGV, SIG_DFL);
	munmap(fault_page, 4096);
	unwound_init(&u);
	unwound_walk(&u, &taken);
	size_t at = unwound_find(&u, "interrupted", 3);
	ck_assert_uint_eq(u.frames[at].flags & TP_FRAME_RETURN, 0);
	ck_assert_uint_ne(u.frames[at + 1].flags & TP_FRAME_RETURN, 0);
	ck_assert_int_eq(u.result.end, TP_UNWIND_COMPLETE);
	expect_as_glibc(&u, 8);
	unwound_release(&u);
}
END_TEST

START_TEST(handler_on_its_own_stack_is_truncated_not_wrong)
{
	static char other_stack[65536];
	stack_t alternative = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};
	stack_t off = {.ss_flags = SS_DISABLE};
	struct sigaction action = {.sa_handler = handler_captures, .sa_flags = SA_ONSTACK};
	struct unwound u;
	ck_assert_int_eq(sigaltstack(&alternative, NULL), 0);
	sigaction(SIGUSR1, &action, NULL);
	capture_other_top = (uint64_t)(uintptr_t)other_stack + sizeof(other_stack);
	on_usr1();
	capture_other_top = 0;
	signal(SIGUSR1, SIG_DFL);
	sigaltstack(&off, NULL);
	unwound_init(&u);
	unwound_walk(&u, &taken);
	ck_assert_str_eq(unwound_name(&u, 1), "handler_captures");
	ck_assert_int_eq(u.result.end, TP_UNWIND_TRUNCATED);
	ck_assert_uint_eq(u.result.n_guessed, 0);
	unwound_release(&u);
}
END_TEST

KEEP static int recurse(int depth)
{
	int value = depth > 0 ? recurse(depth - 1) : chain_a(1);
	AFTER_CALL();
	return value + 1;
}

START_TEST(deep_recursion_is_cut_at_the_maximum)
{
	struct unwound u;
	recurse(1000);
	unwound_init(&u);
	unwound_walk(&u, &taken);
	ck_assert_uint_eq(u.result.n_frames, TP_STACK_MAX_FRAMES);
	ck_assert_int_eq(u.result.end, TP_UNWIND_DEEP);
	ck_assert_str_eq(unwound_name(&u, 500), "recurse");
	unwound_release(&u);
}
END_TEST

START_TEST(short_copy_gives_the_same_first_frames)
{
	struct unwound full;
	struct unwound cut;
	recurse(300);
	unwound_init(&full);
	unwound_walk(&full, &taken);
	for (size_t size = 0; size < 4096; size += 8) {
		struct capture part = taken;
		part.size = size;
		cut = full;
		unwound_walk(&cut, &part);
		ck_assert_uint_lt(cut.result.n_frames, full.result.n_frames);
		ck_assert_int_eq(cut.result.end, TP_UNWIND_TRUNCATED);
		ck_assert_int_eq(memcmp(cut.frames, full.frames,
					cut.result.n_frames * sizeof(cut.frames[0])),
				 0);
	}
	unwound_release(&full);
}
END_TEST

/* Both a 64-byte aligned local and a buffer of unknown size: gcc addresses the caller's frame
 * through memory here (DW_OP_breg6 -8; DW_OP_deref). */
KEEP static int realigned(size_t n)
{
	_Alignas(64) volatile char aligned[64];
	volatile char *room = alloca(n);
	room[0] = 1;
	aligned[0] = (char)((uintptr_t)aligned % 64);
	int value = chain_a(1) + aligned[0] + room[0];
	AFTER_CALL();
	return value;
}

START_TEST(walk_crosses_realigned_frames)
{
	struct unwound u;
	realigned(100);
	unwound_init(&u);
	unwound_walk(&u, &taken);
	unwound_find(&u, "realigned", 4);
	ck_assert_int_eq(u.result.end, TP_UNWIND_COMPLETE);
	expect_as_glibc(&u, 6);
	unwound_release(&u);
}
END_TEST

/* For a blocked thread only ip and sp are known (/proc/TID/syscall). */
START_TEST(walk_without_bp_finds_the_same_callers)
{
	struct unwound with;
	struct unwound without;
	realigned(100);
	unwound_init(&with);
	unwound_walk(&with, &taken);
	without = with;
	taken.regs.bp = 0;
	unwound_walk(&without, &taken);
	ck_assert_uint_eq(without.result.n_frames, with.result.n_frames);
	ck_assert_int_eq(without.result.end, TP_UNWIND_COMPLETE);
	for (size_t i = 0; i < with.result.n_frames; i++) {
		ck_assert_ptr_eq(without.frames[i].module, with.frames[i].module);
		ck_assert_uint_eq(without.frames[i].address, with.frames[i].address);
	}
	unwound_release(&with);
}
END_TEST

static jmp_buf way_back;

KEEP __attribute__((noreturn)) static void never_returns(void)
{
	capture_here(&taken);
	longjmp(way_back, 1);
}

/* Its last instruction is a call: the return address belongs to the function that comes next. */
KEEP __attribute__((noreturn)) static void ends_with_a_call(void)
{
	volatile char room[72];
	room[0] = 1;
	AFTER_CALL();
	(void)room[0];
	never_returns();
}

START_TEST(a_return_address_after_the_last_instruction_is_handled)
{
	static const char *const names[] = {"never_returns", "ends_with_a_call"};
	struct unwound u;
	if (setjmp(way_back) == 0)
		ends_with_a_call();
	unwound_init(&u);
	unwound_walk(&u, &taken);
	expect_chain(&u, names, 2);
	struct tp_symbol symbol;
	tp_symbol_find(&u.frames[1], &symbol);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
	ck_assert_uint_eq(symbol.end, u.frames[1].address); /* the intended case */
#endif
	ck_assert_int_eq(u.result.end, TP_UNWIND_COMPLETE);
	ck_assert_uint_eq(u.result.n_guessed, 0);
	unwound_release(&u);
}
END_TEST

START_TEST(return_address_of_zero_is_the_root)
{
	struct unwound u;
	chain_a(1);
	unwound_init(&u);
	unwound_walk(&u, &taken);
	struct tp_stack_frame after = u.frames[4];
	struct tp_stack_frame here;
	for (size_t i = 0; i < taken.size / 8; i++) {
		tp_maps_find(u.maps, taken.stack[i], TP_FRAME_RETURN, &here);
		if (here.module == after.module && here.address == after.address)
			taken.stack[i] = 0;
	}
	unwound_walk(&u, &taken);
	ck_assert_uint_eq(u.result.n_frames, 4);
	ck_assert_int_eq(u.result.end, TP_UNWIND_COMPLETE);
	ck_assert(!u.result.is_root_known);
	unwound_release(&u);
}
END_TEST

START_TEST(nothing_is_opened_before_it_is_asked_for)
{
	struct unwound u;
	unwound_init(&u);
	ck_assert_uint_eq(u.modules->n_items, 1); /* the kernel's */
	unwound_release(&u);
}
END_TEST

/* The stack of arm64 Linux: siginfo, then a ucontext with the registers at 312. */
START_TEST(arm_signal_frame_leads_to_the_interrupted_instruction)
{
	enum { CODE = 0x100, INTERRUPTED = 0x180, SP = 0x7000 };
	static const uint8_t signal_return[] = {0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4};
	static uint8_t file[0x200];
	uint64_t stack[128] = {0};
	const Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_machine = EM_AARCH64,
		.e_phoff = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
	};
	const Elf64_Phdr segment = {.p_type = PT_LOAD,
				    .p_flags = PF_X,
				    .p_filesz = sizeof(file),
				    .p_memsz = sizeof(file)};
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), &segment, sizeof(segment));
	memcpy(file + CODE, signal_return, sizeof(signal_return));
	stack[(312 + 29 * 8) / 8] = SP + 900;
	stack[(312 + 31 * 8) / 8] = SP + 800;
	stack[(312 + 32 * 8) / 8] = INTERRUPTED | UINT64_C(0x25) << 56; /* tagged or signed */
	struct unwound u = {.modules = tp_modules_new()};
	struct tp_module *module;
	u.maps = tp_maps_new(u.modules, getpid());
	ck_assert_int_eq(tp_modules_add_image(&module, u.modules, "arm", file, sizeof(file), NULL),
			 TP_OK);
	tp_maps_add_module(u.maps, 0, module);
	struct tp_unwind_regs regs = {.ip = CODE, .sp = SP};
	tp_unwind(u.maps, &regs, stack, sizeof(stack), u.frames, TP_STACK_MAX_FRAMES, &u.result);
	ck_assert_uint_eq(u.result.n_frames, 2);
	ck_assert_uint_eq(u.frames[1].address, INTERRUPTED);
	ck_assert_uint_eq(u.frames[1].flags, 0);
	unwound_release(&u);
}
END_TEST

static uint64_t random_state = 88172645463325252U;
static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

START_TEST(garbage_stacks_end_within_bounds)
{
	struct unwound u;
	chain_a(1);
	unwound_init(&u);
	unwound_walk(&u, &taken);
	struct capture garbage = taken;
	for (int round = 0; round < 300; round++) {
		for (size_t i = 0; i < garbage.size / 8; i++) {
			if (random_next() % 4 == 0)
				garbage.stack[i] = taken.stack[random_next() % (taken.size / 8)];
			else if (random_next() % 8 == 0)
				garbage.stack[i] = random_next();
		}
		unwound_walk(&u, &garbage);
		ck_assert_uint_ge(u.result.n_frames, 1);
		ck_assert_uint_le(u.result.n_frames, TP_STACK_MAX_FRAMES);
	}
	garbage.regs = (struct tp_unwind_regs){UINT64_MAX, UINT64_MAX - 8, UINT64_MAX, 0};
	unwound_walk(&u, &garbage);
	ck_assert_uint_eq(u.result.n_frames, 1);
	unwound_release(&u);
}
END_TEST

Suite *suite_stack_unwind(void);
Suite *suite_stack_unwind(void)
{
	Suite *suite = suite_create("stack/unwind");
	TCase *tc = tcase_create("unwind");
	tcase_add_test(tc, walk_names_the_known_callers_up_to_start);
	tcase_add_test(tc, walk_crosses_libraries);
	tcase_add_test(tc, walk_of_a_thread_ends_at_clone);
	tcase_add_test(tc, walk_crosses_a_signal_frame);
	tcase_add_test(tc, interrupted_address_is_not_taken_for_a_return_address);
	tcase_add_test(tc, handler_on_its_own_stack_is_truncated_not_wrong);
	tcase_add_test(tc, arm_signal_frame_leads_to_the_interrupted_instruction);
	tcase_add_test(tc, deep_recursion_is_cut_at_the_maximum);
	tcase_add_test(tc, short_copy_gives_the_same_first_frames);
	tcase_add_test(tc, walk_crosses_realigned_frames);
	tcase_add_test(tc, walk_without_bp_finds_the_same_callers);
	tcase_add_test(tc, a_return_address_after_the_last_instruction_is_handled);
	tcase_add_test(tc, return_address_of_zero_is_the_root);
	tcase_add_test(tc, nothing_is_opened_before_it_is_asked_for);
	tcase_add_test(tc, garbage_stacks_end_within_bounds);
	suite_add_tcase(suite, tc);
	return suite;
}
