-- SPDX-License-Identifier: Apache-2.0
-- The job: its joined steps, their mean, and what ranks wait. Needs ranks and steps.
WITH own AS (
	SELECT job_step, rank_row, end_ns - start_ns AS length_ns,
	       end_ns - start_ns - wait_ns AS own_ns
	FROM steps WHERE job_step IS NOT NULL
), step AS (
	SELECT job_step, AVG(length_ns) AS length_ns, AVG(own_ns) AS mean_own_ns,
	       MAX(own_ns) AS last_own_ns
	FROM own GROUP BY job_step
)
SELECT COUNT(*) AS steps, AVG(length_ns) AS step_ns,
       SUM(last_own_ns - mean_own_ns) / SUM(length_ns) AS wait_ratio,
       SUM(GREATEST(length_ns - last_own_ns, 0)) / SUM(length_ns) AS exchange_ratio
FROM step
