/* SPDX-License-Identifier: Apache-2.0 */
/* Decides why a thread is off CPU. */
#include "wait_cause.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <string.h>

/* Shell patterns; the first match wins. */
struct pattern {
	const char *glob;
	enum tp_cause cause;
};

/* Targets of /proc/PID/fd links. */
static const struct pattern links[] = {
	{"pipe:*", TP_CAUSE_PIPE},
	{"socket:*", TP_CAUSE_SOCKET},
	{"anon_inode:*eventpoll*", TP_CAUSE_POLL},
	{"anon_inode:*timerfd*", TP_CAUSE_SLEEP},
	{"anon_inode:*pidfd*", TP_CAUSE_CHILD},
	{"anon_inode:*eventfd*", TP_CAUSE_FUTEX}, /* an eventfd is used as a counting semaphore */
	{"anon_inode:*io_uring*", TP_CAUSE_DISK},
	{"anon_inode:*", TP_CAUSE_OTHER},
	{"/dev/pts/*", TP_CAUSE_TERMINAL},
	{"/dev/tty*", TP_CAUSE_TERMINAL},
	{"/dev/console", TP_CAUSE_TERMINAL},
	{"/dev/hvc*", TP_CAUSE_TERMINAL},
	{"/dev/shm/*", TP_CAUSE_FILE},
	{"/dev/sd*", TP_CAUSE_DISK},
	{"/dev/vd*", TP_CAUSE_DISK},
	{"/dev/nvme*", TP_CAUSE_DISK},
	{"/dev/dm-*", TP_CAUSE_DISK},
	{"/dev/md*", TP_CAUSE_DISK},
	{"/dev/mapper/*", TP_CAUSE_DISK},
	{"/dev/loop*", TP_CAUSE_DISK},
	{"/dev/*", TP_CAUSE_OTHER},
	{"/proc/*", TP_CAUSE_OTHER},
	{"/sys/*", TP_CAUSE_OTHER},
	{"/*", TP_CAUSE_FILE},
	{"mnt:*", TP_CAUSE_OTHER},
};

/* Kernel functions, Linux 4.18 to 6.18: names change, the words in them remain. */
static const struct pattern wchans[] = {
	{"*futex*", TP_CAUSE_FUTEX},
	{"*pipe_*", TP_CAUSE_PIPE},
	{"*pipe", TP_CAUSE_PIPE},
	{"n_tty_*", TP_CAUSE_TERMINAL},
	{"*tty_*", TP_CAUSE_TERMINAL},
	{"*nanosleep*", TP_CAUSE_SLEEP},
	{"poll_schedule*", TP_CAUSE_POLL},
	{"do_sys_poll*", TP_CAUSE_POLL},
	{"do_select*", TP_CAUSE_POLL},
	{"*ep_poll*", TP_CAUSE_POLL},
	{"*epoll_wait*", TP_CAUSE_POLL},
	{"schedule_hrtimeout*", TP_CAUSE_POLL},
	{"*do_wait*", TP_CAUSE_CHILD},
	{"kernel_wait4*", TP_CAUSE_CHILD},
	{"kernel_clone*", TP_CAUSE_CHILD},
	{"*unix_*", TP_CAUSE_SOCKET},
	{"*skb_*", TP_CAUSE_SOCKET},
	{"sk_*", TP_CAUSE_SOCKET},
	{"inet_*", TP_CAUSE_SOCKET},
	{"tcp_*", TP_CAUSE_SOCKET},
	{"udp_*", TP_CAUSE_SOCKET},
	{"*vsock*", TP_CAUSE_SOCKET},
	{"io_schedule*", TP_CAUSE_DISK},
	{"*folio_*", TP_CAUSE_DISK},
	{"*wait_on_page*", TP_CAUSE_DISK},
	{"*iomap*", TP_CAUSE_DISK},
	{"*blk*", TP_CAUSE_DISK},
	{"*submit_bio*", TP_CAUSE_DISK},
	{"rq_qos_*", TP_CAUSE_DISK},
	{"ext4_*", TP_CAUSE_DISK},
	{"xfs_*", TP_CAUSE_DISK},
	{"btrfs_*", TP_CAUSE_DISK},
	{"nfs*", TP_CAUSE_DISK},
	{"rpc_*", TP_CAUSE_DISK},
	{"*fuse_*", TP_CAUSE_DISK},
	{"*jbd2_*", TP_CAUSE_DISK},
	{"balance_dirty_pages*", TP_CAUSE_DISK},
	{"*semtimedop*", TP_CAUSE_FUTEX},
	{"eventfd_*", TP_CAUSE_FUTEX},
	{"wq_sleep*", TP_CAUSE_PIPE}, /* mq_receive, mq_send */
	{"do_msgrcv*", TP_CAUSE_PIPE},
	{"do_msgsnd*", TP_CAUSE_PIPE},
	{"io_cqring_wait*", TP_CAUSE_DISK},
};

static enum tp_cause match(const struct pattern *patterns, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++) {
		if (tp_text_glob(patterns[i].glob, text))
			return patterns[i].cause;
	}
	return TP_CAUSE_UNKNOWN;
}

/* Returns the cause for the type of a descriptor. UNKNOWN for "". */
static enum tp_cause cause_of_link(const char *link)
{
	return match(links, TP_ARRAY_LEN(links), link);
}

enum tp_cause tp_wait_cause_of_wchan(const char *wchan)
{
	return match(wchans, TP_ARRAY_LEN(wchans), wchan);
}

/* Returns the cause of a blocked read or write. The link of a named pipe looks like a file; the
 * kernel function distinguishes them. */
static enum tp_cause cause_of_descriptor(const struct tp_wait_facts *facts)
{
	enum tp_cause cause = cause_of_link(facts->link);
	enum tp_cause by_wchan = tp_wait_cause_of_wchan(facts->wchan);
	if (cause == TP_CAUSE_UNKNOWN)
		return by_wchan;
	return cause == TP_CAUSE_FILE && by_wchan == TP_CAUSE_PIPE ? TP_CAUSE_PIPE : cause;
}

/* Polling one descriptor means waiting for it; polling none means sleeping. */
static enum tp_cause cause_of_poll(const struct tp_wait_facts *facts)
{
	if (facts->is_timeout_only)
		return TP_CAUSE_SLEEP;
	enum tp_cause cause = cause_of_link(facts->link);
	return cause == TP_CAUSE_UNKNOWN ? TP_CAUSE_POLL : cause;
}

static enum tp_cause cause_of_storage(const struct tp_wait_facts *facts)
{
	return cause_of_link(facts->link) == TP_CAUSE_FILE ? TP_CAUSE_FILE : TP_CAUSE_DISK;
}

static enum tp_cause with_fallback(enum tp_cause cause, enum tp_cause fallback)
{
	return cause == TP_CAUSE_UNKNOWN ? fallback : cause;
}

static enum tp_cause cause_of_call(const struct tp_wait_facts *facts)
{
	switch (facts->row->kind) {
	case TP_SYSCALL_FD:
		return with_fallback(cause_of_descriptor(facts), TP_CAUSE_OTHER);
	case TP_SYSCALL_STORAGE:
		return cause_of_storage(facts);
	case TP_SYSCALL_POLL:
	case TP_SYSCALL_SELECT:
		return cause_of_poll(facts);
	case TP_SYSCALL_EPOLL:
		return TP_CAUSE_POLL;
	case TP_SYSCALL_MESSAGE:
		return TP_CAUSE_PIPE;
	case TP_SYSCALL_FUTEX:
	case TP_SYSCALL_LOCK:
		return TP_CAUSE_FUTEX;
	case TP_SYSCALL_SLEEP:
		return TP_CAUSE_SLEEP;
	case TP_SYSCALL_CHILD:
		return TP_CAUSE_CHILD;
	case TP_SYSCALL_OTHER:
		break;
	}
	/* A driver or the address space's lock; but reading pages in such a call still is the
	 * disk. */
	return tp_wait_cause_of_wchan(facts->wchan) == TP_CAUSE_DISK ? TP_CAUSE_DISK
								     : TP_CAUSE_OTHER;
}

static enum tp_cause cause_of_wait(const struct tp_wait_facts *facts)
{
	enum tp_cause by_wchan = tp_wait_cause_of_wchan(facts->wchan);
	if (facts->state == 'T' || facts->state == 't')
		return TP_CAUSE_OTHER; /* stopped, or held by a debugger */
	/* Outside of a call only page faults block like this. R: woken between the two reads. */
	if (facts->has_call && facts->call.number < 0)
		return by_wchan == TP_CAUSE_DISK || facts->state == 'D' || facts->state == 'R'
			       ? TP_CAUSE_PAGE_FAULT
			       : by_wchan;
	if (facts->has_call && facts->row)
		return cause_of_call(facts);
	return with_fallback(by_wchan, facts->state == 'D' ? TP_CAUSE_DISK : TP_CAUSE_UNKNOWN);
}

struct tp_wait_cause tp_wait_cause_classify(const struct tp_wait_facts *facts)
{
	const bool runs = facts->has_call ? facts->call.is_running : facts->state == 'R';
	if (runs)
		return (struct tp_wait_cause){TP_STATE_RUNNABLE, TP_CAUSE_NONE};
	return (struct tp_wait_cause){TP_STATE_BLOCKED, cause_of_wait(facts)};
}
