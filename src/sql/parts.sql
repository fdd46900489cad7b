-- SPDX-License-Identifier: Apache-2.0
-- What a step consists of, over the joined ranks: least, mean, most. Needs ranks and times.
WITH joined AS (
	SELECT rank_row FROM ranks WHERE is_joined
), part AS (
	SELECT DISTINCT part FROM times
), each AS (
	SELECT joined.rank_row, part.part, COALESCE(SUM(times.step_ns), 0) AS step_ns
	FROM joined CROSS JOIN part
	LEFT JOIN times ON times.rank_row = joined.rank_row AND times.part = part.part
	GROUP BY joined.rank_row, part.part
)
SELECT part, MIN(step_ns) AS least_ns, AVG(step_ns) AS mean_ns, MAX(step_ns) AS most_ns
FROM each GROUP BY part ORDER BY part
