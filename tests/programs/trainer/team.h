/* SPDX-License-Identifier: Apache-2.0 */
/* A team of threads that share a loop, as an OpenMP runtime does. */
#ifndef TRAINER_TEAM_H
#define TRAINER_TEAM_H

struct team;

/* One piece of the loop: item `item` done by member `member`. */
typedef void team_work(void *context, int item, int member);

struct team *team_open(int n_threads, int is_spinning, int is_locked);
void team_close(struct team *team);

/* Does all items; the caller is member 0. Returns when the last one is done. */
void team_run(struct team *team, team_work *work, void *context, int n_items);

int team_size(const struct team *team);

#endif
