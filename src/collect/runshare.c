/* Shares looks out between running and waiting for a CPU. */
#include "runshare.h"

enum { CREDIT_LOOKS = 8 };

enum tp_state tp_runshare_take(struct tp_runshare *share, uint64_t ran_ns, double elapsed_ns)
{
	if (share->ran_ns && ran_ns > share->ran_ns) /* the first look stands for nothing yet */
		share->credit_ns += (double)(ran_ns - share->ran_ns);
	share->ran_ns = ran_ns;
	/* Time that no look was left for must not colour the next second. */
	if (share->credit_ns > CREDIT_LOOKS * elapsed_ns)
		share->credit_ns = CREDIT_LOOKS * elapsed_ns;
	if (share->credit_ns < elapsed_ns / 2)
		return TP_STATE_RUNNABLE;
	share->credit_ns -= elapsed_ns;
	return TP_STATE_ON_CPU;
}
