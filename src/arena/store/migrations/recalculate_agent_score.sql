-- Adds up one agent version's raw rows and scores it by them, to the cent as Arena itself does:
-- see arena/scoring/components.py and overall.py for the rounding. Returns the overall score.
-- Intervals are Arena's to compute: they are left open here, and whoever reads the board next
-- fills them in.
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
  run uuid;
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

  SELECT id INTO run
    FROM agent_benchmark_runs
   WHERE team_id = p_team_id AND agent_id = p_agent_id AND agent_version = p_version
     AND status = 'completed' AND is_full
   ORDER BY completed_at DESC, id DESC
   LIMIT 1;

  SELECT coalesce(sum(p), 0) AS part, coalesce(sum(w), 0) AS whole,
         jsonb_build_array(count(*), coalesce(sum(p), 0), coalesce(sum(w), 0),
                           coalesce(sum(p * p), 0), coalesce(sum(p * w), 0),
                           coalesce(sum(w * w), 0)) AS share
    INTO benchmark
    FROM (SELECT count(*) FILTER (WHERE passed)::numeric AS p, count(*)::numeric AS w
            FROM agent_benchmark_results WHERE run_id = run GROUP BY test_id) AS tests;

  SELECT coalesce(sum(p), 0) AS part, coalesce(sum(w), 0) AS whole,
         jsonb_build_array(count(*), coalesce(sum(p), 0), coalesce(sum(w), 0),
                           coalesce(sum(p * p), 0), coalesce(sum(p * w), 0),
                           coalesce(sum(w * w), 0)) AS share
    INTO cost
    FROM (SELECT sum(earned_micropoints)::numeric AS p, sum(possible_micropoints)::numeric AS w
            FROM agent_benchmark_results WHERE run_id = run GROUP BY test_id
          HAVING sum(possible_micropoints) > 0) AS tests;

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
    success_rate_score, cost_efficiency_score, overall_score, coverage, rating_count, rating_sum,
    rating_square_sum, execution_count, success_count, benchmark_run_id, benchmark_share,
    cost_share, updated_at)
  VALUES (
    gen_random_uuid(), p_team_id, p_agent_id, p_version, cents[1] / 100, cents[2] / 100,
    cents[3] / 100, cents[4] / 100, overall, div(20000 * covered + total, 2 * total) / 10000,
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
    rating_count = excluded.rating_count,
    rating_sum = excluded.rating_sum,
    rating_square_sum = excluded.rating_square_sum,
    execution_count = excluded.execution_count,
    success_count = excluded.success_count,
    benchmark_run_id = excluded.benchmark_run_id,
    benchmark_share = excluded.benchmark_share,
    cost_share = excluded.cost_share,
    updated_at = excluded.updated_at;

  UPDATE agent_scores SET rank_overall = ranked.place
    FROM (SELECT id, CASE WHEN overall_score IS NOT NULL
                          THEN rank() OVER (ORDER BY overall_score DESC NULLS LAST) END AS place
            FROM agent_scores WHERE team_id = p_team_id) AS ranked
   WHERE agent_scores.id = ranked.id AND agent_scores.rank_overall IS DISTINCT FROM ranked.place;
  RETURN overall;
END
$$
