/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the table of system calls. */
#include "collect/offcpu/syscall_table.h"

#include <check.h>
#include <string.h>
#include <sys/syscall.h>

/* The C library's numbers on the architecture for which this test is built. */
static const struct {
	const char *name;
	int32_t number;
} library[] = {
#ifdef SYS_read
	{"read", SYS_read},
#endif
#ifdef SYS_write
	{"write", SYS_write},
#endif
#ifdef SYS_pread64
	{"pread64", SYS_pread64},
#endif
#ifdef SYS_pwrite64
	{"pwrite64", SYS_pwrite64},
#endif
#ifdef SYS_readv
	{"readv", SYS_readv},
#endif
#ifdef SYS_writev
	{"writev", SYS_writev},
#endif
#ifdef SYS_preadv
	{"preadv", SYS_preadv},
#endif
#ifdef SYS_pwritev
	{"pwritev", SYS_pwritev},
#endif
#ifdef SYS_preadv2
	{"preadv2", SYS_preadv2},
#endif
#ifdef SYS_pwritev2
	{"pwritev2", SYS_pwritev2},
#endif
#ifdef SYS_sendfile
	{"sendfile", SYS_sendfile},
#endif
#ifdef SYS_splice
	{"splice", SYS_splice},
#endif
#ifdef SYS_tee
	{"tee", SYS_tee},
#endif
#ifdef SYS_vmsplice
	{"vmsplice", SYS_vmsplice},
#endif
#ifdef SYS_copy_file_range
	{"copy_file_range", SYS_copy_file_range},
#endif
#ifdef SYS_recvfrom
	{"recvfrom", SYS_recvfrom},
#endif
#ifdef SYS_sendto
	{"sendto", SYS_sendto},
#endif
#ifdef SYS_recvmsg
	{"recvmsg", SYS_recvmsg},
#endif
#ifdef SYS_sendmsg
	{"sendmsg", SYS_sendmsg},
#endif
#ifdef SYS_recvmmsg
	{"recvmmsg", SYS_recvmmsg},
#endif
#ifdef SYS_sendmmsg
	{"sendmmsg", SYS_sendmmsg},
#endif
#ifdef SYS_accept
	{"accept", SYS_accept},
#endif
#ifdef SYS_accept4
	{"accept4", SYS_accept4},
#endif
#ifdef SYS_connect
	{"connect", SYS_connect},
#endif
#ifdef SYS_poll
	{"poll", SYS_poll},
#endif
#ifdef SYS_ppoll
	{"ppoll", SYS_ppoll},
#endif
#ifdef SYS_select
	{"select", SYS_select},
#endif
#ifdef SYS_pselect6
	{"pselect6", SYS_pselect6},
#endif
#ifdef SYS_epoll_wait
	{"epoll_wait", SYS_epoll_wait},
#endif
#ifdef SYS_epoll_pwait
	{"epoll_pwait", SYS_epoll_pwait},
#endif
#ifdef SYS_epoll_pwait2
	{"epoll_pwait2", SYS_epoll_pwait2},
#endif
#ifdef SYS_futex
	{"futex", SYS_futex},
#endif
#ifdef SYS_futex_wait
	{"futex_wait", SYS_futex_wait},
#endif
#ifdef SYS_futex_waitv
	{"futex_waitv", SYS_futex_waitv},
#endif
#ifdef SYS_semop
	{"semop", SYS_semop},
#endif
#ifdef SYS_semtimedop
	{"semtimedop", SYS_semtimedop},
#endif
#ifdef SYS_flock
	{"flock", SYS_flock},
#endif
#ifdef SYS_fcntl
	{"fcntl", SYS_fcntl},
#endif
#ifdef SYS_nanosleep
	{"nanosleep", SYS_nanosleep},
#endif
#ifdef SYS_clock_nanosleep
	{"clock_nanosleep", SYS_clock_nanosleep},
#endif
#ifdef SYS_wait4
	{"wait4", SYS_wait4},
#endif
#ifdef SYS_waitid
	{"waitid", SYS_waitid},
#endif
#ifdef SYS_vfork
	{"vfork", SYS_vfork},
#endif
#ifdef SYS_clone
	{"clone", SYS_clone},
#endif
#ifdef SYS_clone3
	{"clone3", SYS_clone3},
#endif
#ifdef SYS_fsync
	{"fsync", SYS_fsync},
#endif
#ifdef SYS_fdatasync
	{"fdatasync", SYS_fdatasync},
#endif
#ifdef SYS_sync_file_range
	{"sync_file_range", SYS_sync_file_range},
#endif
#ifdef SYS_syncfs
	{"syncfs", SYS_syncfs},
#endif
#ifdef SYS_sync
	{"sync", SYS_sync},
#endif
#ifdef SYS_msync
	{"msync", SYS_msync},
#endif
#ifdef SYS_fallocate
	{"fallocate", SYS_fallocate},
#endif
#ifdef SYS_ftruncate
	{"ftruncate", SYS_ftruncate},
#endif
#ifdef SYS_readahead
	{"readahead", SYS_readahead},
#endif
#ifdef SYS_fadvise64
	{"fadvise64", SYS_fadvise64},
#endif
#ifdef SYS_close
	{"close", SYS_close},
#endif
#ifdef SYS_getdents64
	{"getdents64", SYS_getdents64},
#endif
#ifdef SYS_open
	{"open", SYS_open},
#endif
#ifdef SYS_openat
	{"openat", SYS_openat},
#endif
#ifdef SYS_openat2
	{"openat2", SYS_openat2},
#endif
#ifdef SYS_creat
	{"creat", SYS_creat},
#endif
#ifdef SYS_stat
	{"stat", SYS_stat},
#endif
#ifdef SYS_lstat
	{"lstat", SYS_lstat},
#endif
#ifdef SYS_fstat
	{"fstat", SYS_fstat},
#endif
#ifdef SYS_newfstatat
	{"newfstatat", SYS_newfstatat},
#endif
#ifdef SYS_statx
	{"statx", SYS_statx},
#endif
#ifdef SYS_access
	{"access", SYS_access},
#endif
#ifdef SYS_faccessat
	{"faccessat", SYS_faccessat},
#endif
#ifdef SYS_faccessat2
	{"faccessat2", SYS_faccessat2},
#endif
#ifdef SYS_readlink
	{"readlink", SYS_readlink},
#endif
#ifdef SYS_readlinkat
	{"readlinkat", SYS_readlinkat},
#endif
#ifdef SYS_unlink
	{"unlink", SYS_unlink},
#endif
#ifdef SYS_unlinkat
	{"unlinkat", SYS_unlinkat},
#endif
#ifdef SYS_rename
	{"rename", SYS_rename},
#endif
#ifdef SYS_renameat
	{"renameat", SYS_renameat},
#endif
#ifdef SYS_renameat2
	{"renameat2", SYS_renameat2},
#endif
#ifdef SYS_mkdir
	{"mkdir", SYS_mkdir},
#endif
#ifdef SYS_mkdirat
	{"mkdirat", SYS_mkdirat},
#endif
#ifdef SYS_execve
	{"execve", SYS_execve},
#endif
#ifdef SYS_execveat
	{"execveat", SYS_execveat},
#endif
#ifdef SYS_io_getevents
	{"io_getevents", SYS_io_getevents},
#endif
#ifdef SYS_io_pgetevents
	{"io_pgetevents", SYS_io_pgetevents},
#endif
#ifdef SYS_io_uring_enter
	{"io_uring_enter", SYS_io_uring_enter},
#endif
#ifdef SYS_ioctl
	{"ioctl", SYS_ioctl},
#endif
#ifdef SYS_pause
	{"pause", SYS_pause},
#endif
#ifdef SYS_rt_sigsuspend
	{"rt_sigsuspend", SYS_rt_sigsuspend},
#endif
#ifdef SYS_rt_sigtimedwait
	{"rt_sigtimedwait", SYS_rt_sigtimedwait},
#endif
#ifdef SYS_msgrcv
	{"msgrcv", SYS_msgrcv},
#endif
#ifdef SYS_msgsnd
	{"msgsnd", SYS_msgsnd},
#endif
#ifdef SYS_mq_timedreceive
	{"mq_timedreceive", SYS_mq_timedreceive},
#endif
#ifdef SYS_mq_timedsend
	{"mq_timedsend", SYS_mq_timedsend},
#endif
#ifdef SYS_mmap
	{"mmap", SYS_mmap},
#endif
#ifdef SYS_munmap
	{"munmap", SYS_munmap},
#endif
#ifdef SYS_mremap
	{"mremap", SYS_mremap},
#endif
#ifdef SYS_mprotect
	{"mprotect", SYS_mprotect},
#endif
#ifdef SYS_madvise
	{"madvise", SYS_madvise},
#endif
#ifdef SYS_brk
	{"brk", SYS_brk},
#endif
#ifdef SYS_exit
	{"exit", SYS_exit},
#endif
#ifdef SYS_exit_group
	{"exit_group", SYS_exit_group},
#endif
};

#define LEN(table) (sizeof(table) / sizeof((table)[0]))

START_TEST(numbers_are_those_of_the_c_library)
{
	const struct tp_syscall *row = tp_syscall_find(TP_SYSCALL_HERE, library[_i].number);
	ck_assert_ptr_nonnull(row);
	ck_assert_str_eq(row->name, library[_i].name);
}
END_TEST

START_TEST(numbers_and_names_occur_once_a_machine)
{
	size_t n;
	const struct tp_syscall *table = tp_syscall_table(&n);
	ck_assert_uint_ge(n, 60);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++) {
			ck_assert_str_ne(table[i].name, table[j].name);
			ck_assert(table[i].x86_64 < 0 || table[i].x86_64 != table[j].x86_64);
			ck_assert(table[i].aarch64 < 0 || table[i].aarch64 != table[j].aarch64);
		}
	}
}
END_TEST

START_TEST(unknown_numbers_are_not_found)
{
	ck_assert_ptr_null(tp_syscall_find(TP_SYSCALL_X86_64, -1));
	ck_assert_ptr_null(tp_syscall_find(TP_SYSCALL_AARCH64, -1));
	ck_assert_ptr_null(tp_syscall_find(TP_SYSCALL_X86_64, 39)); /* getpid does not wait */
	ck_assert_ptr_null(tp_syscall_find(TP_SYSCALL_X86_64, 1 << 20));
}
END_TEST

/* Copied by hand from asm-generic/unistd.h. */
START_TEST(numbers_of_the_other_machine_are_kept_apart)
{
	ck_assert_str_eq(tp_syscall_find(TP_SYSCALL_AARCH64, 98)->name, "futex");
	ck_assert_str_eq(tp_syscall_find(TP_SYSCALL_X86_64, 202)->name, "futex");
	ck_assert_str_eq(tp_syscall_find(TP_SYSCALL_AARCH64, 202)->name, "accept");
	ck_assert_str_eq(tp_syscall_find(TP_SYSCALL_AARCH64, 115)->name, "clock_nanosleep");
}
END_TEST

Suite *suite_collect_syscall_table(void);
Suite *suite_collect_syscall_table(void)
{
	Suite *suite = suite_create("collect/syscalls");
	TCase *tc = tcase_create("syscalls");
	tcase_add_loop_test(tc, numbers_are_those_of_the_c_library, 0, LEN(library));
	tcase_add_test(tc, numbers_and_names_occur_once_a_machine);
	tcase_add_test(tc, unknown_numbers_are_not_found);
	tcase_add_test(tc, numbers_of_the_other_machine_are_kept_apart);
	suite_add_tcase(suite, tc);
	return suite;
}
