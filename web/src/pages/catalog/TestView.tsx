import { Alert, Paper, Title } from "@mantine/core";
import { useAudit, useStanding, useTest } from "../../api/catalog";
import type { Schemas } from "../../api/queries";
import { BackLink } from "../../ui/BackLink";
import { Facts } from "../../ui/Facts";
import { Warning } from "../../ui/icons";
import { Loading } from "../../ui/Loading";
import { count, seconds } from "../../ui/numbers";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { TestStandard } from "../../ui/standard/StandardView";
import { Untrusted } from "../../ui/Untrusted";
import { FindingWords } from "./AuditCard";
import { Question } from "./Question";
import { StandingCard } from "./StandingCard";
import { agentsOf } from "./TestTable";

/** One test: its prompt, its standard, and its statistics. */
export function TestView({ testId }: { testId: string }) {
  const test = useTest(testId);
  const standing = useStanding(testId);
  const audit = useAudit();
  const back = <BackLink href="/catalog">All tests</BackLink>;
  if (!test.data)
    return (
      <Page title="Test" before={back}>
        {test.error ? (
          <ProblemNote error={test.error} onRetry={() => test.refetch()} />
        ) : (
          <Loading what="the test" />
        )}
      </Page>
    );
  const findings = audit.data?.findings.filter((one) => one.test_id === testId) ?? [];
  return (
    <Page
      title={test.data.name}
      before={back}
      lead={
        <>
          <code>{test.data.test_id}</code> · <Untrusted text={test.data.category} /> ·{" "}
          <Untrusted text={agentsOf(test.data)} />
          {!test.data.active && " · inactive"}
          {test.data.description && (
            <div>
              <Untrusted text={test.data.description} />
            </div>
          )}
        </>
      }
    >
      {findings.length > 0 && (
        <Alert color="yellow" icon={<Warning />} title="The audit finds this test weak">
          <FindingWords findings={findings} />
        </Alert>
      )}
      <Facts facts={factsOf(test.data)} />
      <Question test={test.data} />
      <Paper withBorder p="lg" component="section" aria-label="Standard">
        <Title order={2} size="h4" mb="xs">
          Standard
        </Title>
        <TestStandard test={test.data} />
      </Paper>
      {standing.error && <ProblemNote error={standing.error} onRetry={() => standing.refetch()} />}
      {standing.data && <StandingCard standing={standing.data} />}
    </Page>
  );
}

function factsOf(test: Schemas["Test"]) {
  return [
    { label: "Points", value: count(test.points) },
    { label: "Timeout", value: seconds(test.timeout_seconds) },
    { label: "Trials", value: count(test.trials) },
    {
      label: "Token budget",
      value: count(test.budget_tokens),
      note: test.budget_tokens === null ? "from its points" : undefined,
    },
    { label: "Tags", value: test.tags.length ? test.tags.join(", ") : "–" },
  ];
}
