/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: registers, system calls, code. */
#ifdef __x86_64__
#include "machine.h"

#include "trainprof/base/process_memory.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

enum {
	/* Values that the kernel leaves in rax for a system call that must be restarted
	 * (include/linux/errno.h). */
	RESTART_SYS = -512,
	RESTART_NO_INTR = -513,
	RESTART_NO_HANDLER = -514,
	RESTART_BLOCK = -516,
	EPOLL_PWAIT2 = 441, /* missing in older headers */
	CALL_BYTES = 2,     /* length of the instruction */
	TCB_SELF = 16,      /* offset in glibc's tcbhead_t (sysdeps/x86_64/nptl/tls.h) */
	FRAME_MASK = 304, /* offset of the saved signal mask in a frame, from its return address */
};

/* Index of a member of struct user_regs_struct in words. */
#define WORD(member) (offsetof(struct user_regs_struct, member) / 8)
enum {
	R15 = WORD(r15),
	R14 = WORD(r14),
	R13 = WORD(r13),
	R12 = WORD(r12),
	RBP = WORD(rbp),
	RBX = WORD(rbx),
	R10 = WORD(r10),
	R9 = WORD(r9),
	R8 = WORD(r8),
	RAX = WORD(rax),
	RDX = WORD(rdx),
	RSI = WORD(rsi),
	RDI = WORD(rdi),
	ORIG_RAX = WORD(orig_rax),
	RIP = WORD(rip),
	FLAGS = WORD(eflags),
	RSP = WORD(rsp),
	CS = WORD(cs),
	FS_BASE = WORD(fs_base),
};
enum { CODE_64 = 0x33 };

_Static_assert(sizeof(struct user_regs_struct) <= sizeof(((struct tp_registers *)0)->words),
	       "layout");
/* The code below uses these numbers. */
_Static_assert(R15 == 0 && R14 == 1 && R13 == 2 && R12 == 3 && RBP == 4 && RBX == 5 && R10 == 7 &&
		       R9 == 8 && R8 == 9 && RAX == 10 && RDX == 12 && RSI == 13 && RDI == 14 &&
		       RIP == 16 && FLAGS == 18 && RSP == 19,
	       "layout");

#define TEXT(x)          #x
#define VALUE(x)         TEXT(x)
#define AT(base, offset) VALUE(offset) "(%" base ")"

/* The code is position-independent. It may clobber rcx and r11 at its end, because the repeated
 * system call overwrites them; nothing after popfq may change the flags. */
/* clang-format off */
__asm__(
	".pushsection .rodata.tp_inject,\"a\"\n"
	".balign 16\n"
	"tp_inject_begin:\n"
	/* code of the held thread */
	"	lea	tp_inject_begin+" VALUE(TP_PAYLOAD_AT) "(%rip), %rbx\n"
	"	lea	tp_inject_begin+" VALUE(TP_PAYLOAD_STATE_AT) "(%rip), %rbp\n"
	"	mov	$-1, %eax\n"
	"	mov	$-1, %edx\n"
	"	xsave64	(%rbp)\n"
	"	lea	tp_inject_begin+" VALUE(TP_PAYLOAD_STACK_END) "(%rip), %rsp\n"
	"	cld\n"
	"	lea	" AT("rbx", TP_PAYLOAD_THREAD) ", %rdi\n"
	"	xor	%esi, %esi\n"
	"	lea	tp_inject_guest(%rip), %rdx\n"
	"	mov	%rbx, %rcx\n"
	"	call	*" AT("rbx", TP_PAYLOAD_CREATE) "\n"
	"	mov	%eax, %r12d\n"
	"	mov	$-1, %eax\n"
	"	mov	$-1, %edx\n"
	"	xrstor64 (%rbp)\n"
	"	mov	%r12d, " AT("rbx", TP_PAYLOAD_CREATED) "\n"
	"1:	mov	$0, %edi\n"
	"	mov	$0, %esi\n"
	"	lea	" AT("rbx", TP_PAYLOAD_REST) ", %rdx\n"
	"	mov	$0, %r10d\n"
	"	mov	$0, %r8d\n"
	"	mov	$271, %eax\n" /* ppoll */
	"	syscall\n"
	"	mov	$127, %eax\n" /* rt_sigpending */
	"	lea	" AT("rbx", TP_PAYLOAD_PENDING) ", %rdi\n"
	"	mov	$8, %esi\n"
	"	syscall\n"
	"	mov	" AT("rbx", TP_PAYLOAD_MASK) ", %rcx\n"
	"	not	%rcx\n"
	"	test	%rcx, " AT("rbx", TP_PAYLOAD_PENDING) "\n"
	"	jz	2f\n"
	"	decl	" AT("rbx", TP_PAYLOAD_RESTS) "\n"
	"	jnz	1b\n"
	"2:\n"
	"	pushq	18*8(%rbx)\n"
	"	popfq\n"
	"	mov	19*8(%rbx), %rsp\n"
	"	mov	$14, %eax\n" /* rt_sigprocmask */
	"	mov	$2, %edi\n" /* SIG_SETMASK */
	"	lea	" AT("rbx", TP_PAYLOAD_MASK) ", %rsi\n"
	"	mov	$0, %edx\n"
	"	mov	$8, %r10d\n"
	"	syscall\n"
	"	lea	tp_inject_begin+" VALUE(TP_PAYLOAD_AT) "(%rip), %rcx\n"
	"	mov	0*8(%rcx), %r15\n"
	"	mov	1*8(%rcx), %r14\n"
	"	mov	2*8(%rcx), %r13\n"
	"	mov	3*8(%rcx), %r12\n"
	"	mov	4*8(%rcx), %rbp\n"
	"	mov	5*8(%rcx), %rbx\n"
	"	mov	7*8(%rcx), %r10\n"
	"	mov	8*8(%rcx), %r9\n"
	"	mov	9*8(%rcx), %r8\n"
	"	mov	10*8(%rcx), %rax\n"
	"	mov	12*8(%rcx), %rdx\n"
	"	mov	13*8(%rcx), %rsi\n"
	"	mov	14*8(%rcx), %rdi\n"
	"	mov	16*8(%rcx), %r11\n"
	"	jmp	*%r11\n"
	/* code of the guest thread; rdi points to struct tp_payload */
	"tp_inject_guest:\n"
	"	push	%rbx\n"
	"	mov	%rdi, %rbx\n"
	"	mov	" AT("rbx", TP_PAYLOAD_THREAD) ", %rdi\n"
	"	call	*" AT("rbx", TP_PAYLOAD_DETACH) "\n"
	"	mov	$14, %eax\n" /* rt_sigprocmask */
	"	mov	$2, %edi\n" /* SIG_SETMASK */
	"	lea	" AT("rbx", TP_PAYLOAD_OPEN) ", %rsi\n"
	"	xor	%edx, %edx\n"
	"	mov	$8, %r10d\n"
	"	syscall\n"
	"	lea	" AT("rbx", TP_PAYLOAD_NAME) ", %rdi\n"
	"	mov	$1, %esi\n" /* MFD_CLOEXEC */
	"	mov	$319, %eax\n" /* memfd_create */
	"	syscall\n"
	"	mov	%eax, " AT("rbx", TP_PAYLOAD_FILE) "\n"
	"	movl	$" VALUE(TP_PAYLOAD_PHASE_WAITING) ", " AT("rbx", TP_PAYLOAD_PHASE) "\n"
	"1:	cmpl	$" VALUE(TP_PAYLOAD_ORDER_LOAD) ", " AT("rbx", TP_PAYLOAD_ORDER) "\n"
	"	je	2f\n"
	"	ja	9f\n"
	"	decl	" AT("rbx", TP_PAYLOAD_PATIENCE) "\n"
	"	jz	9f\n"
	"	lea	" AT("rbx", TP_PAYLOAD_NAP) ", %rdi\n"
	"	xor	%esi, %esi\n"
	"	mov	$35, %eax\n" /* nanosleep */
	"	syscall\n"
	"	jmp	1b\n"
	"2:	lea	" AT("rbx", TP_PAYLOAD_PATH) ", %rdi\n"
	"	mov	$2, %esi\n" /* RTLD_NOW */
	"	call	*" AT("rbx", TP_PAYLOAD_DLOPEN) "\n"
	"	test	%rax, %rax\n"
	"	jz	7f\n"
	"	mov	%rax, %rdi\n"
	"	lea	" AT("rbx", TP_PAYLOAD_SYMBOL) ", %rsi\n"
	"	call	*" AT("rbx", TP_PAYLOAD_DLSYM) "\n"
	"	test	%rax, %rax\n"
	"	jz	7f\n"
	"	lea	tp_inject_begin(%rip), %rdi\n"
	"	mov	" AT("rbx", TP_PAYLOAD_GIVEN) ", %rsi\n"
	"	call	*%rax\n"
	"	mov	%eax, " AT("rbx", TP_PAYLOAD_RETURNED) "\n"
	"	movl	$" VALUE(TP_PAYLOAD_PHASE_DONE) ", " AT("rbx", TP_PAYLOAD_PHASE) "\n"
	"	jmp	9f\n"
	"7:	call	*" AT("rbx", TP_PAYLOAD_DLERROR) "\n"
	"	mov	%rax, " AT("rbx", TP_PAYLOAD_REASON) "\n"
	"	movl	$" VALUE(TP_PAYLOAD_PHASE_FAILED) ", " AT("rbx", TP_PAYLOAD_PHASE) "\n"
	"8:	cmpl	$" VALUE(TP_PAYLOAD_ORDER_LEAVE) ", " AT("rbx", TP_PAYLOAD_ORDER) "\n"
	"	je	9f\n"
	"	decl	" AT("rbx", TP_PAYLOAD_PATIENCE) "\n"
	"	jz	9f\n"
	"	lea	" AT("rbx", TP_PAYLOAD_NAP) ", %rdi\n"
	"	xor	%esi, %esi\n"
	"	mov	$35, %eax\n"
	"	syscall\n"
	"	jmp	8b\n"
	"9:	mov	" AT("rbx", TP_PAYLOAD_FILE) ", %edi\n"
	"	mov	$3, %eax\n" /* close */
	"	syscall\n"
	"	xor	%eax, %eax\n"
	"	pop	%rbx\n"
	"	ret\n"
	"tp_inject_end:\n"
	".popsection\n");
/* clang-format on */

extern const char code_begin[] __asm__("tp_inject_begin");
extern const char code_end[] __asm__("tp_inject_end");

bool tp_machine_is_known(void)
{
	return true;
}

bool tp_machine_get(pid_t tid, struct tp_registers *out)
{
	struct iovec place = {.iov_base = out->words, .iov_len = sizeof(out->words)};
	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &place) != 0)
		return false;
	out->size = place.iov_len;
	return true;
}

bool tp_machine_set(pid_t tid, const struct tp_registers *registers)
{
	struct tp_registers copy = *registers;
	struct iovec place = {.iov_base = copy.words, .iov_len = copy.size};
	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &place) == 0;
}

uint64_t tp_machine_pc(const struct tp_registers *registers)
{
	return registers->words[RIP];
}

uint64_t tp_machine_sp(const struct tp_registers *registers)
{
	return registers->words[RSP];
}

static const int argument_words[] = {RDI, RSI, RDX, R10, R8, R9};

uint64_t tp_machine_argument(const struct tp_registers *registers, unsigned i)
{
	return registers->words[argument_words[i]];
}

static bool has_call_before(pid_t tid, uint64_t pc)
{
	static const unsigned char call[CALL_BYTES] = {0x0f, 0x05};
	unsigned char bytes[CALL_BYTES];
	return tp_process_memory_read(tid, pc - CALL_BYTES, bytes, sizeof(bytes)) &&
	       memcmp(bytes, call, sizeof(call)) == 0;
}

/* The first words of the thread control block point to itself; this identifies a thread of the C
 * library. */
static bool has_libc(pid_t tid, uint64_t base)
{
	uint64_t own[TCB_SELF / 8 + 1];
	return base && tp_process_memory_read(tid, base, own, sizeof(own)) && own[0] == base &&
	       own[TCB_SELF / 8] == base;
}

static bool has_room(pid_t tid)
{
	char state[TP_PAYLOAD_STATE_END - TP_PAYLOAD_STATE_AT];
	struct iovec place = {.iov_base = state, .iov_len = sizeof(state)};
	return ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &place) == 0 &&
	       place.iov_len < sizeof(state);
}

bool tp_machine_is_fit(pid_t tid, const struct tp_registers *registers)
{
	return registers->size == sizeof(struct user_regs_struct) &&
	       registers->words[CS] == CODE_64 && has_call_before(tid, registers->words[RIP]) &&
	       has_libc(tid, registers->words[FS_BASE]) && has_room(tid);
}

/* Calls that return EINTR after a stop that the program does not know about (signal(7), confirmed
 * on Linux 6.18; reading, writing and accepting only if the socket has a timeout). They are
 * repeated, as after a stop by SIGSTOP. */
static bool is_broken_by_stops(long number)
{
	static const short numbers[] = {SYS_read,         SYS_readv,         SYS_recvfrom,
					SYS_recvmsg,      SYS_recvmmsg,      SYS_write,
					SYS_writev,       SYS_sendto,        SYS_sendmsg,
					SYS_sendmmsg,     SYS_accept,        SYS_accept4,
					SYS_epoll_wait,   SYS_epoll_pwait,   EPOLL_PWAIT2,
					SYS_semop,        SYS_semtimedop,    SYS_rt_sigtimedwait,
					SYS_io_getevents, SYS_io_uring_enter};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i] == number)
			return true;
	return false;
}

long tp_machine_interrupted(pid_t tid, const struct tp_registers *registers,
			    struct tp_registers *out)
{
	(void)tid;
	long number = (long)registers->words[ORIG_RAX];
	long result = (long)registers->words[RAX];
	if (number < 0)
		return -1;
	*out = *registers;
	if (result == -EINTR && is_broken_by_stops(number))
		out->words[RAX] = (uint64_t)RESTART_NO_HANDLER;
	else if (result != RESTART_SYS && result != RESTART_NO_INTR &&
		 result != RESTART_NO_HANDLER && result != RESTART_BLOCK)
		return -1;
	return number;
}

bool tp_machine_cancel(pid_t tid, const struct tp_registers *registers)
{
	struct tp_registers none = *registers;
	none.words[ORIG_RAX] = UINT64_MAX;
	return tp_machine_set(tid, &none);
}

void tp_machine_cancelled(const struct tp_registers *before, const struct tp_registers *behind,
			  struct tp_registers *out)
{
	(void)behind;
	*out = *before;
	out->words[RAX] = (uint64_t)RESTART_NO_INTR;
}

void tp_machine_set_call(struct tp_registers *registers, const struct tp_registers *back,
			 long number, const uint64_t arguments[6])
{
	registers->words[RIP] = back->words[RIP] - CALL_BYTES;
	registers->words[RAX] = (uint64_t)number;
	registers->words[ORIG_RAX] = UINT64_MAX;
	for (size_t i = 0; i < 6; i++)
		registers->words[argument_words[i]] = arguments[i];
}

long tp_machine_result(const struct tp_registers *registers)
{
	return (long)registers->words[RAX];
}

void tp_machine_enter(struct tp_registers *registers, uint64_t block)
{
	registers->words[RIP] = block;
	registers->words[ORIG_RAX] = UINT64_MAX;
}

void tp_machine_keep(uint64_t out[40], const struct tp_registers *back)
{
	bool is_rest = (long)back->words[RAX] == RESTART_BLOCK;
	memcpy(out, back->words, sizeof(back->words));
	out[RAX] = is_rest ? SYS_restart_syscall : back->words[ORIG_RAX];
	out[RIP] = back->words[RIP] - CALL_BYTES;
}

const void *tp_machine_code(size_t *size)
{
	*size = (size_t)(code_end - code_begin);
	return code_begin;
}

const char *tp_machine_signal_return(const void **code, size_t *size)
{
	/* mov $15, %rax; syscall: __restore_rt of the C library. */
	static const unsigned char bytes[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
	*code = bytes;
	*size = sizeof(bytes);
	return NULL;
}

/* A stale frame holds the thread's mask, which most likely is still its current mask. A running
 * handler blocks one signal more than its frame says. */
bool tp_machine_is_handling(pid_t pid, uint64_t frame, uint64_t mask)
{
	uint64_t saved;
	return tp_process_memory_read(pid, frame + FRAME_MASK, &saved, sizeof(saved)) &&
	       saved != mask;
}
#else
typedef int tp_no_code; /* not for this architecture */
#endif
