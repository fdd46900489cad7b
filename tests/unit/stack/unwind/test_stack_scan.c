/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of guessed callers, compared with known chains: code written at run time and assembler
 * without unwind tables between C functions, on stacks full of old return addresses. */
#include "stack/capture.h"

#include <alloca.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#if defined(__x86_64__)

static struct capture taken;
static uint64_t random_state;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

typedef int kernel_fn(int n);

KEEP static int callee(int n)
{
	capture_here(&taken);
	AFTER_CALL();
	return n + 1;
}

int callee_of_callee(int n); /* the assembler below calls it by name */
KEEP int callee_of_callee(int n)
{
	volatile uint64_t locals[8] = {0};
	locals[n & 7] = 1;
	int value = callee(n) + (int)locals[0];
	AFTER_CALL();
	return value;
}

/* Leaves chains of return addresses on the stack where later frames will be. */
KEEP static int litter(int n)
{
	volatile char room[64];
	room[0] = (char)n;
	int value = n > 0 ? litter(n - 1) : 0;
	AFTER_CALL();
	return value + room[0];
}

/* Overwrites what earlier calls left below, including our own: then the litter is only what we put
 * there. */
KEEP static void scrub(void)
{
	volatile uint64_t room[16384];
	for (unsigned i = 0; i < sizeof(room) / sizeof(room[0]); i++)
		room[i] = 0;
}

KEEP static int litter_wide(int n)
{
	volatile char room[184];
	room[0] = (char)n;
	int value = n > 0 ? litter_wide(n - 1) : 0;
	AFTER_CALL();
	return value + room[0];
}

static int (*volatile litter_pointer)(int) = litter;
KEEP static int litter_by_pointer(int n)
{
	volatile char room[40];
	room[0] = (char)n;
	int value = n > 0 ? litter_by_pointer(n - 1) : litter_pointer(3);
	AFTER_CALL();
	return value + room[0];
}

enum litter { LITTER_NONE, LITTER_DIRECT, LITTER_INDIRECT, LITTER_MIXED };
static enum litter litter_kind;

KEEP static int litter_now(int n)
{
	int value = n;
	if (litter_kind == LITTER_DIRECT)
		value += litter(n);
	else if (litter_kind != LITTER_NONE)
		value += litter_by_pointer(n);
	/* Chains over chains: the ends of old ones lead into the middle of new ones. */
	if (litter_kind == LITTER_MIXED)
		value += litter_wide(n % 5);
	AFTER_CALL();
	return value;
}

static kernel_fn *volatile kernel;
static uint64_t live_bp; /* bp at the entry of the kernel */

__attribute__((always_inline)) static inline void note_bp(void)
{
	__asm__ volatile("mov %%rbp, %0" : "=m"(live_bp));
}

/* rsp alone is enough to find its frame. */
KEEP static int caller_by_sp(int n)
{
	volatile char room[120];
	room[0] = (char)litter_now(n);
	note_bp();
	int value = kernel(n) + room[0];
	AFTER_CALL();
	return value;
}

/* Its frame needs rbp, which the kernel saves and changes. */
KEEP static int caller_by_bp(int n)
{
	volatile char *room = alloca((size_t)(n % 7) * 16 + 16);
	room[0] = (char)litter_now(n);
	note_bp();
	int value = kernel(n) + room[0];
	AFTER_CALL();
	return value;
}

/* Does not change rbp: the value that the kernel saved belongs to a caller further up. */
KEEP static int caller_between(int n)
{
	int value = caller_by_sp(n);
	AFTER_CALL();
	return value + 1;
}

KEEP static int root_by_bp(int n, int way)
{
	volatile char *room = alloca((size_t)(n % 5) * 16 + 16);
	room[0] = (char)litter_now(n);
	int value = (way == 0 ? caller_by_sp(n) : way == 1 ? caller_by_bp(n) : caller_between(n));
	AFTER_CALL();
	return value + room[0];
}

struct stub_shape {
	unsigned frame_bytes; /* room that it does not fill: old words stay there */
	bool saves_bp;
	bool changes_bp;
	bool by_pointer; /* call *%rax; otherwise it makes no indirect call */
};

/* Emits a kernel like those of oneDNN's generator: push the used registers, make room, call,
 * undo. */
static size_t emit(uint8_t *code, const struct stub_shape *shape)
{
	uint8_t *at = code;
	uint32_t room = shape->frame_bytes;
	kernel_fn *target = callee_of_callee;
	uint32_t n_pushed = shape->saves_bp ? 2 : 1;
	if (shape->saves_bp)
		*at++ = 0x55;                     /* push %rbp */
	*at++ = 0x53;                             /* push %rbx */
	room += (n_pushed * 8 + 8 + room) % 16;   /* keep rsp aligned at the call */
	*at++ = 0x48, *at++ = 0x81, *at++ = 0xec; /* sub $room, %rsp */
	memcpy(at, &room, 4), at += 4;
	if (shape->changes_bp)
		*at++ = 0x48, *at++ = 0x89, *at++ = 0xfd; /* mov %rdi, %rbp */
	*at++ = 0x48, *at++ = 0xb8;                       /* mov $target, %rax */
	memcpy(at, &target, 8), at += 8;
	*at++ = 0xff, *at++ = 0xd0;               /* call *%rax */
	*at++ = 0x48, *at++ = 0x81, *at++ = 0xc4; /* add $room, %rsp */
	memcpy(at, &room, 4), at += 4;
	*at++ = 0x5b; /* pop %rbx */
	if (shape->saves_bp)
		*at++ = 0x5d; /* pop %rbp */
	*at++ = 0xc3;
	return (size_t)(at - code);
}

static uint8_t *code_page(void)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(code, MAP_FAILED);
	return code;
}

static const char *const truths[3][4] = {
	{"caller_by_sp", "root_by_bp", "run_all_shapes", NULL},
	{"caller_by_bp", "root_by_bp", "run_all_shapes", NULL},
	{"caller_by_sp", "caller_between", "root_by_bp", "run_all_shapes"},
};

/* Returns how many frames from `at` on are the true ones, in order and without gaps. */
static size_t n_true(const struct unwound *u, size_t at, int way)
{
	size_t n = 0;
	while (n < 4 && truths[way][n] && strcmp(unwound_name(u, at + n), truths[way][n]) == 0)
		n++;
	return n;
}

struct score {
	size_t n_walks;
	size_t n_right; /* all frames from the kernel to the function that called it */
	size_t n_complete;
};

static void judge(struct score *score, struct unwound *u, size_t kernel_at, int way)
{
	size_t n_truth = 0;
	while (n_truth < 4 && truths[way][n_truth])
		n_truth++;
	score->n_walks++;
	score->n_right += n_true(u, kernel_at + 1, way) == n_truth;
	score->n_complete += u->result.end == TP_UNWIND_COMPLETE;
	if (n_true(u, kernel_at + 1, way) > 0)
		ck_assert(u->frames[kernel_at + 1].flags & TP_FRAME_GUESSED);
}

KEEP static void run_all_shapes(struct score *below, struct score *inside, uint8_t *code,
				unsigned most_room)
{
	static struct unwound u; /* a frame of a kilobyte would hide the litter */
	unwound_init(&u);
	for (unsigned round = 0; round < 600; round++) {
		struct stub_shape shape = {
			.frame_bytes = (unsigned)(random_next() % (most_room / 32 + 1)) * 32,
			.saves_bp = random_next() % 4 != 0,
		};
		shape.changes_bp = shape.saves_bp && random_next() % 4 != 0;
		emit(code, &shape);
		int way = (int)(random_next() % 3);
		scrub();
		root_by_bp((int)(random_next() % 20), way);
		AFTER_CALL();
		/* Sampled in a function that the kernel called. */
		unwound_walk(&u, &taken);
		ck_assert_str_eq(unwound_name(&u, 0), "callee");
		ck_assert_str_eq(unwound_name(&u, 1), "callee_of_callee");
		ck_assert_int_eq(u.frames[2].module->kind, TP_FRAME_JIT);
		judge(below, &u, 2, way);
		/* Sampled in the kernel itself: its sp is above the return address into it. */
		static struct capture in_kernel;
		in_kernel = taken;
		uint64_t skipped = 0;
		uint64_t wanted = u.frames[2].address;
		while (taken.stack[skipped] != wanted)
			skipped++;
		skipped++;
		in_kernel.size = taken.size - skipped * 8;
		memcpy(in_kernel.stack, taken.stack + skipped, in_kernel.size);
		in_kernel.regs.ip = wanted;
		in_kernel.regs.sp = taken.regs.sp + skipped * 8;
		in_kernel.regs.bp = shape.changes_bp ? 7 : live_bp;
		unwound_walk(&u, &in_kernel);
		judge(inside, &u, 0, way);
	}
	unwound_release(&u);
}

/* Minimum accuracy for stacks that hide the true callers. Kernels fill the room they make, so the
 * usual cases have little of it; hundreds of unfilled words, with chains of old calls by pointer in
 * them, are the worst (measured: 90 % right with gcc, 100 % with clang, whose calls differ). */
static const struct {
	enum litter litter;
	unsigned most_room;
	unsigned least_percent;
} conditions[] = {
	{LITTER_NONE, 0, 99},        {LITTER_NONE, 1920, 99},  {LITTER_DIRECT, 256, 99},
	{LITTER_DIRECT, 1920, 99},   {LITTER_INDIRECT, 0, 99}, {LITTER_INDIRECT, 256, 95},
	{LITTER_INDIRECT, 1920, 80}, {LITTER_MIXED, 256, 95},  {LITTER_MIXED, 1920, 85},
};

START_TEST(callers_of_run_time_code_are_the_true_ones)
{
	struct score below = {0};
	struct score inside = {0};
	random_state = 88172645463325252U;
	uint8_t *code = code_page();
	kernel_fn *function;
	memcpy(&function, &code, sizeof(function));
	kernel = function;
	litter_kind = conditions[_i].litter;
	run_all_shapes(&below, &inside, code, conditions[_i].most_room);
	munmap(code, 4096);
	const struct score *scores[] = {&below, &inside};
	unsigned least_percent = conditions[_i].least_percent;
#if defined(__SANITIZE_ADDRESS__)
	if (conditions[_i].most_room > 0) /* its library leaves litter, too */
		least_percent = 50;
#endif
	for (int i = 0; i < 2; i++) {
		ck_assert_msg(scores[i]->n_right * 100 >= scores[i]->n_walks * least_percent,
			      "right: %zu of %zu", scores[i]->n_right, scores[i]->n_walks);
		ck_assert_uint_ge(scores[i]->n_complete * 100, scores[i]->n_walks * 99);
	}
}
END_TEST

/* A copy that ends somewhere above: the frames found are the beginning of the true chain. */
START_TEST(short_copies_give_true_first_callers)
{
	static struct unwound u;
	static struct capture part;
	struct stub_shape shape = {.frame_bytes = 128, .saves_bp = true, .changes_bp = true};
	uint8_t *code = code_page();
	kernel_fn *function;
	memcpy(&function, &code, sizeof(function));
	kernel = function;
	litter_kind = LITTER_DIRECT;
	emit(code, &shape);
	scrub();
	root_by_bp(5, _i);
	AFTER_CALL();
	unwound_init(&u);
	part = taken;
	size_t n_with_caller = 0;
	size_t n_cut_behind_caller = 0;
	for (part.size = 0; part.size < 2048; part.size += 8) {
		unwound_walk(&u, &part);
		if (u.result.n_frames > 3) {
			ck_assert_str_eq(unwound_name(&u, 3), truths[_i][0]);
			n_with_caller++;
			n_cut_behind_caller += u.result.n_frames == 4;
		}
		if (u.result.n_frames > 4)
			ck_assert_str_eq(unwound_name(&u, 4), "root_by_bp");
	}
	ck_assert_uint_gt(n_with_caller, 50);
	/* Only the frames above show if a frame found by bp is the right one. */
#if !defined(__SANITIZE_ADDRESS__) /* which gives every frame a bp */
	ck_assert_int_eq(n_cut_behind_caller > 0, _i == 0);
#endif
	unwound_release(&u);
	munmap(code, 4096);
}
END_TEST

/* Assembler like that of hand-written kernels: no unwind table, saves and changes rbp, calls C. */
__asm__(".text\n"
	".type bare_kernel, @function\n"
	"bare_kernel:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	sub $200, %rsp\n"
	"	mov %rdi, %rbp\n"
	"	call callee_of_callee\n"
	"	add $200, %rsp\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	".size bare_kernel, . - bare_kernel\n");
int bare_kernel(int n);

KEEP static int calls_bare_kernel(int n)
{
	volatile char *room = alloca((size_t)(n % 7) * 16 + 16);
	room[0] = (char)litter_now(n);
	int value = bare_kernel(n) + room[0];
	AFTER_CALL();
	return value;
}

START_TEST(callers_of_assembler_without_tables_are_the_true_ones)
{
	static struct unwound u;
	litter_kind = (enum litter)_i;
	scrub();
	calls_bare_kernel(5);
	AFTER_CALL();
	unwound_init(&u);
	unwound_walk(&u, &taken);
	ck_assert_str_eq(unwound_name(&u, 2), "bare_kernel");
	ck_assert_uint_eq(u.frames[2].flags & TP_FRAME_GUESSED, 0);
	ck_assert_str_eq(unwound_name(&u, 3), "calls_bare_kernel");
	ck_assert_uint_ne(u.frames[3].flags & TP_FRAME_GUESSED, 0);
	ck_assert_str_eq(unwound_name(&u, 4),
			 "callers_of_assembler_without_tables_are_the_true_ones_fn");
	ck_assert_int_eq(u.result.end, TP_UNWIND_COMPLETE);
	unwound_release(&u);
}
END_TEST

static int compare_and_capture(const void *a, const void *b)
{
	callee(1);
	AFTER_CALL();
	return *(const int *)a - *(const int *)b;
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	if (!strstr(info->dlpi_name, "/libc.so"))
		return 0;
	memcpy(data, info, sizeof(*info));
	return 1;
}

static uint8_t *read_whole(const char *path, size_t *size)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	uint8_t *bytes = malloc((size_t)st.st_size);
	ck_assert_int_eq(read(fd, bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	*size = (size_t)st.st_size;
	return bytes;
}

/* Makes the file like a vendor's library: no section headers, no unwind tables, no names. */
static void strip_everything(uint8_t *bytes)
{
	Elf64_Ehdr header;
	memcpy(&header, bytes, sizeof(header));
	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;
		uint8_t *at = bytes + header.e_phoff + i * sizeof(segment);
		memcpy(&segment, at, sizeof(segment));
		if (segment.p_type == PT_GNU_EH_FRAME)
			segment.p_type = PT_NULL;
		memcpy(at, &segment, sizeof(segment));
	}
	header.e_shnum = 0;
	header.e_shoff = 0;
	memcpy(bytes, &header, sizeof(header));
}

START_TEST(walk_crosses_a_library_without_tables)
{
	static struct unwound u;
	struct dl_phdr_info libc;
	struct tp_module *stripped;
	size_t size;
	int values[] = {2, 1};
	qsort(values, 2, sizeof(int), compare_and_capture);
	AFTER_CALL();
	ck_assert_int_eq(dl_iterate_phdr(find_libc, &libc), 1);
	uint8_t *bytes = read_whole(libc.dlpi_name, &size);
	strip_everything(bytes);
	unwound_init(&u);
	ck_assert_int_eq(tp_modules_add_image(&stripped, u.modules, "libvendor.so", bytes, size,
					      NULL),
			 TP_OK);
	tp_maps_add_module(u.maps, libc.dlpi_addr, stripped);
	unwound_walk(&u, &taken);
	ck_assert_str_eq(unwound_name(&u, 1), "compare_and_capture");
	ck_assert_ptr_eq(u.frames[2].module, stripped);
	ck_assert_str_eq(unwound_name(&u, 2), "");
	ck_assert_uint_ne(u.frames[3].flags & TP_FRAME_GUESSED, 0);
	/* The next frame, unless a sanitizer has its own qsort(). */
	size_t at = unwound_find(&u, "walk_crosses_a_library_without_tables_fn", 3);
	ck_assert_uint_le(at, 4);
	unwound_release(&u);
	free(bytes);
}
END_TEST

Suite *suite_stack_stack_scan(void);
Suite *suite_stack_stack_scan(void)
{
	Suite *suite = suite_create("stack/scan");
	TCase *tc = tcase_create("scan");
	tcase_set_timeout(tc, 30);
	tcase_add_loop_test(tc, callers_of_run_time_code_are_the_true_ones, 0, 9);
	tcase_add_loop_test(tc, short_copies_give_true_first_callers, 0, 2);
	tcase_add_loop_test(tc, callers_of_assembler_without_tables_are_the_true_ones, 0, 3);
	tcase_add_test(tc, walk_crosses_a_library_without_tables);
	suite_add_tcase(suite, tc);
	return suite;
}

#endif
