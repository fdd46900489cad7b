/*
 * What the passes over ranks take for short, small and much. Rules compare facts with thresholds of
 * their own (rules/thresholds.json); these decide what a fact counts, or which label an instant
 * has, before there are facts, and analysis knows no rules.
 */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_RANK_LIMITS_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_RANK_LIMITS_H

#include <stdint.h>

/* device.short_kernel_ratio: launching one takes 5 to 20 us (Holistic Trace Analysis, docs, "short
 * kernels", read 2026-11-20), so these end before the next one is launched. */
static const uint64_t TP_SHORT_KERNEL_NS = 10000;

/* comm.small_ratio: our choice; which share of them is too much is $comm.small of the rules. */
static const uint64_t TP_SMALL_COLLECTIVE_BYTES = UINT64_C(1) << 20;

/* device.small_copy_ratio: at 25 GB/s these take less than the call that starts them (above); our
 * choice. */
static const uint64_t TP_SMALL_COPY_BYTES = UINT64_C(64) << 10;

/* Gaps shorter than this between queued pieces of work are the device's own latency: our choice. */
static const uint64_t TP_LATENCY_NS = 6000;

/* Shares of the host's time before a launch that make the cause of a gap: our choice, most of it in
 * the loader or in calls, and less where it allocates. */
static const double TP_GAP_LOADER_LEAST = 0.5;
static const double TP_GAP_ALLOC_LEAST = 0.3;
static const double TP_GAP_CALLS_LEAST = 0.5;

/* A part below this is no loss worth a word: xprof's "moderately" begins at 5 % and "highly" at
 * 20 %; of ten public captures the one with 9.3 % of host work beside 90 % compute is called
 * compute-bound by its reference, those from 15 % on are not. */
static const double TP_LARGEST_LOSS_LEAST = 0.10;

/* Warned of above it, of work that no call launched and of events that were skipped: our choice. */
static const double TP_UNLINKED_MUCH = 0.05;
static const double TP_SKIPPED_MUCH = 0.001;

/* Clocks that differ by less are one clock: ends of a collective on one host differ by 1 to 7 us.
 */
static const double TP_SAME_CLOCK_NS = 50000;

#endif
