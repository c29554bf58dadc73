import { Code, Group, Paper, Text, Title } from "@mantine/core";
import { Link, useParams, useSearchParams } from "wouter";
import { type Schemas, useResult } from "../../api/queries";
import { BackLink } from "../../ui/BackLink";
import { Conversation } from "../../ui/Conversation";
import { CutNote } from "../../ui/CutNote";
import { Facts } from "../../ui/Facts";
import { Findings } from "../../ui/Findings";
import { Loading } from "../../ui/Loading";
import { count, dollars, score, seconds } from "../../ui/numbers";
import { Outcome } from "../../ui/Outcome";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { asRecord } from "../../ui/standard/reading";
import { TestStandard } from "../../ui/standard/StandardView";
import { Untrusted } from "../../ui/Untrusted";
import { UntrustedBlock } from "../../ui/UntrustedBlock";
import { When } from "../../ui/When";
import { filterIn, queryOf } from "../run/filter";
import { Neighbours } from "./Neighbours";
import { SimulatedUser } from "./SimulatedUser";
import { Steps } from "./Steps";
import { WorkspaceCard } from "./WorkspaceCard";

/** One result with its evidence: prompt, answer, findings. */
export default function ResultPage() {
  const { runId = "", resultId = "" } = useParams<{ runId: string; resultId: string }>();
  const [search] = useSearchParams();
  const filter = filterIn(search);
  const query = queryOf(filter);
  const { data, error, refetch } = useResult(runId, resultId, filter);
  const back = <BackLink href={`/runs/${runId}${query}`}>Back to the run</BackLink>;
  if (!data)
    return (
      <Page title="Result" before={back}>
        {error ? <ProblemNote error={error} onRetry={refetch} /> : <Loading what="the result" />}
      </Page>
    );
  const { run, result, test } = data;
  const beside = (id: string | null) => id && `/runs/${runId}/results/${id}${query}`;
  const output = outputOf(result);
  const problem = result.actual_output?.steps_problem;
  const isRepeated = result.trial > 1 || (run.trials ?? test.trials) > 1;
  const testHref = `/catalog/tests/${encodeURIComponent(test.test_id)}`;
  return (
    <Page
      key={resultId}
      title={test.name}
      before={back}
      lead={
        <Group gap="md">
          <Outcome passed={result.passed} />
          <span>
            <code>{test.test_id}</code>
            {isRepeated && ` · trial ${result.trial}`} · <Untrusted text={test.category} /> ·{" "}
            <Link href={`/agents/${encodeURIComponent(run.agent_id)}`}>
              {run.agent_id} {run.agent_version}
            </Link>{" "}
            · <When at={result.created_at} />
          </span>
        </Group>
      }
      actions={<Neighbours previous={beside(data.previous_id)} next={beside(data.next_id)} />}
    >
      <Facts
        facts={[
          {
            label: "Points",
            value: `${score(result.points_earned)} of ${score(result.points_possible)}`,
          },
          { label: "Score", value: `${score(result.score)} of 100` },
          {
            label: "Time",
            value: seconds(result.duration_seconds),
            note: `of ${seconds(test.timeout_seconds)} allowed`,
          },
          {
            label: "Tokens",
            value: count(sum(result.input_tokens, result.output_tokens)),
            note:
              result.input_tokens === null
                ? "not reported by the agent"
                : `${count(result.input_tokens)} in, ${count(result.output_tokens)} out`,
          },
          {
            label: "Cost",
            value: dollars(result.cost_usd),
            note: result.model ? <Untrusted text={result.model} /> : undefined,
          },
          { label: "Attempts", value: count(result.attempts) },
        ]}
      />
      <Paper withBorder p="lg" component="section" aria-label="Verdict">
        <Title order={2} size="h4" mb="sm">
          Verdict
        </Title>
        {result.failure_reason && (
          <Text mb="sm" style={{ whiteSpace: "pre-line" }}>
            <Untrusted text={result.failure_reason} />
          </Text>
        )}
        <Findings findings={result.findings} />
        {result.verdict_cid && (
          <Text size="sm" c="dimmed" mt="sm" style={{ overflowWrap: "anywhere" }}>
            Stored as the record <Code>{result.verdict_cid}</Code>; replay it with{" "}
            <Code>arena verify {result.verdict_cid}</Code>.
          </Text>
        )}
      </Paper>
      {result.messages ? (
        <section>
          <Title order={2} size="h4" mb="xs">
            Conversation
          </Title>
          <Conversation messages={result.messages} steps={result.steps} />
        </section>
      ) : (
        <section>
          <Title order={2} size="h4" mb="xs">
            Prompt
          </Title>
          <UntrustedBlock label="Prompt" text={test.input_prompt} />
        </section>
      )}
      <section>
        {!result.messages && (
          <Title order={2} size="h4" mb="xs">
            Answer
          </Title>
        )}
        {output === null ? (
          <Text c="dimmed">The agent returned no output.</Text>
        ) : (
          !result.messages && <UntrustedBlock label="Answer" text={output} />
        )}
        {result.actual_output?.truncated === true && <CutNote />}
        {typeof problem === "string" && (
          <Text size="sm" mt="xs">
            The steps that the agent reported are left out: <Untrusted text={problem} />.
          </Text>
        )}
      </section>
      {result.steps && !result.messages && <Steps steps={result.steps} />}
      {result.actual_output?.user !== undefined && (
        <SimulatedUser user={asRecord(result.actual_output.user)} />
      )}
      {result.workspace && <WorkspaceCard workspace={result.workspace} />}
      <Paper withBorder p="lg" component="section" aria-label="Standard">
        <Title order={2} size="h4">
          Standard
        </Title>
        <Text size="sm" c="dimmed" mb="xs">
          As it was when the run was created. <Link href={testHref}>View the test</Link>
        </Text>
        <TestStandard test={test} />
      </Paper>
    </Page>
  );
}

function sum(one: number | null, other: number | null): number | null {
  return one === null && other === null ? null : (one ?? 0) + (other ?? 0);
}

/** The agent's output; any other recorded value is shown as JSON. */
function outputOf(result: Schemas["Result"]): string | null {
  if (result.actual_output === null) return null;
  const { output } = result.actual_output as { output?: unknown };
  if (output === undefined && "user" in result.actual_output) return null;
  return typeof output === "string" ? output : JSON.stringify(result.actual_output, null, 2);
}
