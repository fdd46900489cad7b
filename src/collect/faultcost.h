/* What a minor page fault costs on this machine. */
#ifndef TRAINPROF_SRC_COLLECT_FAULTCOST_H
#define TRAINPROF_SRC_COLLECT_FAULTCOST_H

/* CPU time of a first touch of anonymous memory, ns, zeroing included; 0 when it cannot be
 * measured. Takes about a millisecond. */
double tp_faultcost_ns(void);

#endif
