-- SPDX-License-Identifier: Apache-2.0
-- Each rank: its work in a step, its waits, and in how many steps it came last. Needs ranks, steps.
WITH own AS (
	SELECT job_step, rank_row, end_ns - start_ns AS length_ns,
	       end_ns - start_ns - wait_ns AS own_ns
	FROM steps WHERE job_step IS NOT NULL
), ordered AS (
	SELECT job_step, rank_row, own_ns,
	       ROW_NUMBER() OVER (PARTITION BY job_step ORDER BY own_ns DESC, rank_row) AS place,
	       LEAD(own_ns) OVER (PARTITION BY job_step ORDER BY own_ns DESC, rank_row) AS next_ns
	FROM own
), mean AS (
	SELECT rank_row, AVG(own_ns) AS work_ns FROM own GROUP BY rank_row
), step AS (
	SELECT AVG(length_ns) AS step_ns FROM own
), last AS (
	SELECT rank_row, COUNT(*) AS last_in_steps
	FROM ordered WHERE place = 1 AND own_ns > next_ns GROUP BY rank_row
)
SELECT ranks.rank, ranks.host, mean.work_ns,
       GREATEST(step.step_ns - mean.work_ns, 0) AS wait_ns,
       COALESCE(last.last_in_steps, 0) AS last_in_steps
FROM mean
JOIN ranks ON ranks.rank_row = mean.rank_row
CROSS JOIN step
LEFT JOIN last ON last.rank_row = mean.rank_row
ORDER BY mean.work_ns DESC, ranks.rank_row
