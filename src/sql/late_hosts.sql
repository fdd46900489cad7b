-- SPDX-License-Identifier: Apache-2.0
-- Of many jobs: which host is late most often. Needs ranks and steps of all, each with a column `job`
-- (docs/howto/ranks.md); a WHERE on ranks.started_wall_ns chooses the week.
WITH own AS (
	SELECT job, job_step, rank_row, end_ns - start_ns - wait_ns AS own_ns
	FROM steps WHERE job_step IS NOT NULL
), ordered AS (
	SELECT job, job_step, rank_row, own_ns,
	       ROW_NUMBER() OVER (PARTITION BY job, job_step ORDER BY own_ns DESC, rank_row) AS place,
	       LEAD(own_ns) OVER (PARTITION BY job, job_step ORDER BY own_ns DESC, rank_row) AS next_ns
	FROM own
), late AS (
	SELECT job, rank_row, COUNT(*) AS steps, SUM(own_ns - next_ns) AS lost_ns
	FROM ordered WHERE place = 1 AND own_ns > next_ns GROUP BY job, rank_row
)
SELECT ranks.host, COUNT(DISTINCT late.job) AS jobs, SUM(late.steps) AS late_in_steps,
       SUM(late.lost_ns) / 1e9 AS lost_seconds
FROM late JOIN ranks ON ranks.job = late.job AND ranks.rank_row = late.rank_row
GROUP BY ranks.host ORDER BY late_in_steps DESC, ranks.host
