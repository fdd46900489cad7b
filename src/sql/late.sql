-- SPDX-License-Identifier: Apache-2.0
-- The rank that comes last on average and by how much it comes after the next one. Needs ranks, steps.
WITH mean AS (
	SELECT rank_row, AVG(end_ns - start_ns - wait_ns) AS work_ns
	FROM steps WHERE job_step IS NOT NULL GROUP BY rank_row
), ordered AS (
	SELECT rank_row, work_ns,
	       work_ns - LEAD(work_ns) OVER (ORDER BY work_ns DESC, rank_row) AS after_next_ns,
	       ROW_NUMBER() OVER (ORDER BY work_ns DESC, rank_row) AS place
	FROM mean
)
SELECT ranks.rank, ranks.host, ordered.work_ns, ordered.after_next_ns
FROM ordered JOIN ranks ON ranks.rank_row = ordered.rank_row
WHERE ordered.place = 1
