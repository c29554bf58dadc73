-- Adds up one agent version's raw rows and scores it by them on the board of the team's default
-- suite, to the cent as Arena itself does: see arena/scoring/components.py and scorecard.py for the
-- rounding. Returns the overall score. Intervals and the other boards are left to Arena: a score
-- without an interval makes whoever reads a board next compute them.
CREATE FUNCTION recalculate_agent_score(p_agent_id text, p_version text, p_team_id text)
RETURNS numeric
LANGUAGE plpgsql
AS $$
DECLARE
  votes record;
  executions record;
  benchmark record;
  cost record;
  weights agent_score_weights%ROWTYPE;
  board record;
  chosen record;
  run uuid;
  unit numeric;
  ranked boolean := false;
  cents numeric[];
  parts numeric[];
  covered numeric := 0;
  weighed numeric := 0;
  total numeric := 0;
  overall numeric;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(5109002);
  PERFORM pg_advisory_xact_lock(5109, hashtext(p_team_id));

  SELECT count(*) AS n, coalesce(sum(rating), 0) AS s, coalesce(sum(rating * rating), 0) AS q
    INTO votes
    FROM agent_feedback
   WHERE team_id = p_team_id AND agent_id = p_agent_id AND agent_version = p_version
     AND is_standing;

  SELECT count(*) AS n, count(*) FILTER (WHERE status = 'completed') AS ok
    INTO executions
    FROM agent_execution_history
   WHERE team_id = p_team_id AND agent_id = p_agent_id AND agent_version = p_version;

  SELECT t.default_suite, t.ranks_reported, s.shown_version INTO board
    FROM agent_team_boards t
    JOIN agent_suites s ON s.team_id = t.team_id AND s.suite = t.default_suite
   WHERE t.team_id = p_team_id;

  -- A run that was executed here goes before one that was only reported.
  FOR chosen IN
    SELECT id, provenance, test_count, suite_tests
      FROM agent_benchmark_runs
     WHERE team_id = p_team_id AND agent_id = p_agent_id AND agent_version = p_version
       AND suite = board.default_suite AND suite_version = board.shown_version
       AND status = 'completed' AND is_full
     ORDER BY (provenance = 'reported' AND NOT board.ranks_reported), completed_at DESC,
              (provenance = 'reported'), id DESC
     LIMIT 1
  LOOP
    run := chosen.id;
    ranked := 2 * chosen.test_count >= chosen.suite_tests
              AND (chosen.provenance <> 'reported' OR board.ranks_reported);
  END LOOP;

  -- Every test weighs the same, however many trials it had.
  SELECT CASE WHEN min(trials) = max(trials) THEN min(trials) ELSE 1000000 END INTO unit
    FROM agent_benchmark_run_tests WHERE run_id = run;

  SELECT coalesce(sum(p), 0) AS part, coalesce(sum(w), 0) AS whole,
         jsonb_build_array(count(*), coalesce(sum(p), 0), coalesce(sum(w), 0),
                           coalesce(sum(p * p), 0), coalesce(sum(p * w), 0),
                           coalesce(sum(w * w), 0)) AS share
    INTO benchmark
    FROM (SELECT sum(rate) AS p, sum(unit) AS w
            FROM (SELECT f.cluster, div(2 * unit * count(*) FILTER (WHERE r.passed) + count(*),
                                        2 * count(*)::numeric) AS rate
                    FROM agent_benchmark_results r
                    JOIN agent_benchmark_run_tests t
                      ON t.run_id = r.run_id AND t.test_id = r.test_id
                    JOIN agent_benchmark_tests f ON f.digest = t.digest
                   WHERE r.run_id = run AND r.passed IS NOT NULL
                   GROUP BY f.cluster, t.test_id) AS tests
           GROUP BY cluster) AS clusters;

  SELECT coalesce(sum(p), 0) AS part, coalesce(sum(w), 0) AS whole,
         jsonb_build_array(count(*), coalesce(sum(p), 0), coalesce(sum(w), 0),
                           coalesce(sum(p * p), 0), coalesce(sum(p * w), 0),
                           coalesce(sum(w * w), 0)) AS share
    INTO cost
    FROM (SELECT sum(r.earned_micropoints)::numeric AS p, sum(r.possible_micropoints)::numeric AS w
            FROM agent_benchmark_results r
            JOIN agent_benchmark_run_tests t ON t.run_id = r.run_id AND t.test_id = r.test_id
            JOIN agent_benchmark_tests f ON f.digest = t.digest
           WHERE r.run_id = run GROUP BY f.cluster
          HAVING sum(r.possible_micropoints) > 0) AS clusters;

  cents := ARRAY[
    CASE WHEN benchmark.whole > 0
         THEN div(20000 * benchmark.part + benchmark.whole, 2 * benchmark.whole) END,
    CASE WHEN votes.n > 0
         THEN div(20000 * (votes.s - votes.n)::numeric + 4 * votes.n, 8 * votes.n) END,
    CASE WHEN executions.n > 0
         THEN div(20000 * executions.ok::numeric + executions.n, 2 * executions.n) END,
    CASE WHEN cost.whole > 0 THEN div(20000 * cost.part + cost.whole, 2 * cost.whole) END
  ];
  SELECT * INTO weights FROM agent_score_weights;
  parts := ARRAY[weights.benchmark, weights.user_rating, weights.success_rate,
                 weights.cost_efficiency];
  FOR i IN 1..4 LOOP
    total := total + parts[i];
    IF cents[i] IS NOT NULL THEN
      covered := covered + parts[i];
      weighed := weighed + parts[i] * cents[i];
    END IF;
  END LOOP;
  IF covered > 0 THEN
    overall := div(2 * weighed + covered, 2 * covered) / 100;
  END IF;

  INSERT INTO agent_scores (
    id, team_id, agent_id, agent_version, benchmark_score, user_rating_score,
    success_rate_score, cost_efficiency_score, overall_score, coverage, is_ranked, rating_count,
    rating_sum, rating_square_sum, execution_count, success_count, benchmark_run_id, benchmark_share,
    cost_share, updated_at)
  VALUES (
    gen_random_uuid(), p_team_id, p_agent_id, p_version, cents[1] / 100, cents[2] / 100,
    cents[3] / 100, cents[4] / 100, overall, div(20000 * covered + total, 2 * total) / 10000, ranked AND overall IS NOT NULL,
    votes.n, votes.s, votes.q, executions.n, executions.ok, run, benchmark.share, cost.share,
    now())
  ON CONFLICT (team_id, agent_id, agent_version) DO UPDATE SET
    overall_low = NULL,
    overall_high = NULL,
    benchmark_score = excluded.benchmark_score,
    user_rating_score = excluded.user_rating_score,
    success_rate_score = excluded.success_rate_score,
    cost_efficiency_score = excluded.cost_efficiency_score,
    overall_score = excluded.overall_score,
    coverage = excluded.coverage,
    is_ranked = excluded.is_ranked,
    rating_count = excluded.rating_count,
    rating_sum = excluded.rating_sum,
    rating_square_sum = excluded.rating_square_sum,
    execution_count = excluded.execution_count,
    success_count = excluded.success_count,
    benchmark_run_id = excluded.benchmark_run_id,
    benchmark_share = excluded.benchmark_share,
    cost_share = excluded.cost_share,
    updated_at = excluded.updated_at;

  UPDATE agent_scores SET rank_overall = ranks.place
    FROM (SELECT id, CASE WHEN is_ranked
                          THEN rank() OVER (PARTITION BY is_ranked
                                            ORDER BY overall_score DESC NULLS LAST) END AS place
            FROM agent_scores WHERE team_id = p_team_id) AS ranks
   WHERE agent_scores.id = ranks.id AND agent_scores.rank_overall IS DISTINCT FROM ranks.place;
  RETURN overall;
END
$$
