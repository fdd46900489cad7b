/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of why a thread is off CPU, from the contents of /proc in each case. */
#include "collect/offcpu/wait_cause.h"

#include <check.h>

enum { NO_CALL = -100, RUNNING = -200 };

/* System call numbers of x86-64. Kernel functions as seen on 6.1 and 6.18. */
static const struct {
	int32_t call;
	char state;
	const char *link;
	const char *wchan;
	bool is_timeout_only;
	enum tp_state want_state;
	enum tp_cause want;
} cases[] = {
	{0, 'S', "pipe:[5]", "anon_pipe_read", false, TP_STATE_BLOCKED, TP_CAUSE_PIPE},
	{0, 'S', "/run/fifo", "fifo_pipe_read", false, TP_STATE_BLOCKED, TP_CAUSE_PIPE},
	{1, 'S', "/dev/pts/0", "n_tty_write", false, TP_STATE_BLOCKED, TP_CAUSE_TERMINAL},
	{45, 'S', "socket:[9]", "unix_stream_read_generic", false, TP_STATE_BLOCKED,
	 TP_CAUSE_SOCKET},
	{0, 'D', "/data/train.bin", "folio_wait_bit_common", false, TP_STATE_BLOCKED,
	 TP_CAUSE_FILE},
	{17, 'D', "/data/train.bin", "__iomap_dio_rw", false, TP_STATE_BLOCKED, TP_CAUSE_FILE},
	{17, 0, "/data/pipe_names.txt", "", false, TP_STATE_BLOCKED, TP_CAUSE_FILE},
	{0, 'D', "/dev/nvme0n1", "blkdev_read_iter", false, TP_STATE_BLOCKED, TP_CAUSE_DISK},
	{0, 'S', "/dev/fuse", "fuse_dev_do_read", false, TP_STATE_BLOCKED, TP_CAUSE_OTHER},
	{0, 'S', "", "anon_pipe_read", false, TP_STATE_BLOCKED, TP_CAUSE_PIPE},
	{0, 'S', "", "", false, TP_STATE_BLOCKED, TP_CAUSE_OTHER},
	{0, 'S', "anon_inode:[eventfd]", "eventfd_read", false, TP_STATE_BLOCKED, TP_CAUSE_FUTEX},
	{7, 'S', "anon_inode:[eventfd]", "poll_schedule_timeout", false, TP_STATE_BLOCKED,
	 TP_CAUSE_FUTEX},
	{0, 'S', "anon_inode:inotify", "inotify_read", false, TP_STATE_BLOCKED, TP_CAUSE_OTHER},
	{243, 'S', "", "wq_sleep.constprop.0", false, TP_STATE_BLOCKED, TP_CAUSE_PIPE},
	{70, 'S', "", "do_msgrcv.constprop.0", false, TP_STATE_BLOCKED, TP_CAUSE_PIPE},
	{426, 'S', "anon_inode:[io_uring]", "io_cqring_wait", false, TP_STATE_BLOCKED,
	 TP_CAUSE_DISK},
	{74, 'D', "/out/model.pt", "jbd2_log_wait_commit", false, TP_STATE_BLOCKED, TP_CAUSE_FILE},
	{257, 'D', "", "folio_wait_bit_common", false, TP_STATE_BLOCKED, TP_CAUSE_DISK},
	{7, 'S', "", "poll_schedule_timeout", false, TP_STATE_BLOCKED, TP_CAUSE_POLL},
	{7, 'S', "pipe:[5]", "poll_schedule_timeout", false, TP_STATE_BLOCKED, TP_CAUSE_PIPE},
	{7, 'S', "", "poll_schedule_timeout", true, TP_STATE_BLOCKED, TP_CAUSE_SLEEP},
	{232, 'S', "anon_inode:[eventpoll]", "do_epoll_wait", false, TP_STATE_BLOCKED,
	 TP_CAUSE_POLL},
	{230, 'S', "", "hrtimer_nanosleep", false, TP_STATE_BLOCKED, TP_CAUSE_SLEEP},
	{202, 'S', "", "futex_do_wait", false, TP_STATE_BLOCKED, TP_CAUSE_FUTEX},
	{61, 'S', "", "do_wait", false, TP_STATE_BLOCKED, TP_CAUSE_CHILD},
	{58, 'D', "", "kernel_clone", false, TP_STATE_BLOCKED, TP_CAUSE_CHILD},
	{16, 'S', "/dev/nvidia0", "os_acquire_rwlock_read", false, TP_STATE_BLOCKED,
	 TP_CAUSE_OTHER},
	{28, 'D', "", "folio_wait_bit_common", false, TP_STATE_BLOCKED, TP_CAUSE_DISK},
	{9, 'D', "", "rwsem_down_write_slowpath", false, TP_STATE_BLOCKED, TP_CAUSE_OTHER},
	{-1, 'D', "", "folio_wait_bit_common", false, TP_STATE_BLOCKED, TP_CAUSE_PAGE_FAULT},
	{-1, 0, "", "folio_wait_bit_common", false, TP_STATE_BLOCKED, TP_CAUSE_PAGE_FAULT},
	{-1, 'T', "", "do_signal_stop", false, TP_STATE_BLOCKED, TP_CAUSE_OTHER},
	{-1, 'R', "", "0", false, TP_STATE_BLOCKED, TP_CAUSE_PAGE_FAULT},
	{-1, 'S', "", "do_exit", false, TP_STATE_BLOCKED, TP_CAUSE_UNKNOWN},
	{RUNNING, 'R', "", "0", false, TP_STATE_RUNNABLE, TP_CAUSE_NONE},
	{RUNNING, 'S', "", "futex_do_wait", false, TP_STATE_RUNNABLE, TP_CAUSE_NONE},
	{0, 'T', "pipe:[5]", "do_signal_stop", false, TP_STATE_BLOCKED, TP_CAUSE_OTHER},
	/* The syscall file is refused: only the kernel function is known. */
	{NO_CALL, 'S', "", "futex_do_wait", false, TP_STATE_BLOCKED, TP_CAUSE_FUTEX},
	{NO_CALL, 'S', "", "futex_wait_queue", false, TP_STATE_BLOCKED, TP_CAUSE_FUTEX},
	{NO_CALL, 'S', "", "pipe_read", false, TP_STATE_BLOCKED, TP_CAUSE_PIPE},
	{NO_CALL, 'S', "", "poll_schedule_timeout.constprop.0", false, TP_STATE_BLOCKED,
	 TP_CAUSE_POLL},
	{NO_CALL, 'S', "", "ep_poll", false, TP_STATE_BLOCKED, TP_CAUSE_POLL},
	{NO_CALL, 'S', "", "hrtimer_nanosleep", false, TP_STATE_BLOCKED, TP_CAUSE_SLEEP},
	{NO_CALL, 'S', "", "eventfd_read", false, TP_STATE_BLOCKED, TP_CAUSE_FUTEX},
	{NO_CALL, 'S', "", "wq_sleep.constprop.0", false, TP_STATE_BLOCKED, TP_CAUSE_PIPE},
	{NO_CALL, 'S', "", "io_cqring_wait", false, TP_STATE_BLOCKED, TP_CAUSE_DISK},
	{NO_CALL, 'S', "", "do_wait", false, TP_STATE_BLOCKED, TP_CAUSE_CHILD},
	{NO_CALL, 'S', "", "__skb_wait_for_more_packets", false, TP_STATE_BLOCKED, TP_CAUSE_SOCKET},
	{NO_CALL, 'D', "", "folio_wait_bit_common", false, TP_STATE_BLOCKED, TP_CAUSE_DISK},
	{NO_CALL, 'D', "", "0", false, TP_STATE_BLOCKED, TP_CAUSE_DISK},
	{NO_CALL, 'S', "", "0", false, TP_STATE_BLOCKED, TP_CAUSE_UNKNOWN},
	{NO_CALL, 'R', "", "0", false, TP_STATE_RUNNABLE, TP_CAUSE_NONE},
	/* Off CPU in an unknown system call. */
	{5000, 'S', "", "new_kind_of_wait", false, TP_STATE_BLOCKED, TP_CAUSE_UNKNOWN},
	{5000, 'S', "", "futex_do_wait", false, TP_STATE_BLOCKED, TP_CAUSE_FUTEX},
};

START_TEST(cause_is_named)
{
	int32_t call = cases[_i].call;
	const struct tp_wait_facts facts = {
		.state = cases[_i].state,
		.has_call = call != NO_CALL,
		.call = {.number = call == RUNNING ? -1 : call, .is_running = call == RUNNING},
		.row = tp_syscall_find(TP_SYSCALL_X86_64, call),
		.link = cases[_i].link,
		.wchan = cases[_i].wchan,
		.is_timeout_only = cases[_i].is_timeout_only,
	};
	struct tp_wait_cause got = tp_wait_cause_classify(&facts);
	ck_assert_int_eq(got.state, cases[_i].want_state);
	ck_assert_msg(got.cause == cases[_i].want, "call %d, '%s', '%s': %s, not %s", call,
		      facts.link, facts.wchan, tp_cause_name(got.cause),
		      tp_cause_name(cases[_i].want));
}
END_TEST

Suite *suite_collect_wait_cause(void);
Suite *suite_collect_wait_cause(void)
{
	Suite *suite = suite_create("collect/waitcause");
	TCase *tc = tcase_create("waitcause");
	tcase_add_loop_test(tc, cause_is_named, 0, sizeof(cases) / sizeof(cases[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
