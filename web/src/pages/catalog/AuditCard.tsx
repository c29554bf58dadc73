import { Button, Group, Paper, Text, Title } from "@mantine/core";
import { useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { amount, count } from "../../ui/numbers";
import { ProblemNote } from "../../ui/ProblemNote";
import { Untrusted } from "../../ui/Untrusted";
import classes from "./catalog.module.css";

/** Findings shown at first. */
const FEW = 5;

interface AuditCardProps {
  audit?: Schemas["TestAudit"];
  error: unknown;
}

/** The tests that measure nothing: a null agent passes them, or no answer can. */
export function AuditCard({ audit, error }: AuditCardProps) {
  const [isWhole, setWhole] = useState(false);
  if (error) return <ProblemNote error={error} />;
  const { findings, left_out } = audit ?? { findings: [], left_out: [] };
  const tests = byTest(findings);
  const shown = isWhole ? tests : tests.slice(0, FEW);
  return (
    <Paper withBorder p="lg" component="section" aria-label="Audit">
      <Title order={2} size="h4">
        Audit
      </Title>
      <Text size="sm" c="dimmed" mb={findings.length ? "sm" : 0} role="status">
        {audit ? summary(audit) : "Running null agents against the tests …"}
        {left_out.length > 0 &&
          ` ${amount(left_out.length, "test")} left out: only a model or a person can judge ${left_out.length === 1 ? "it" : "them"}.`}
      </Text>
      {findings.length > 0 && (
        <ul className={classes.list}>
          {shown.map(([testId, found]) => (
            <li key={testId}>
              <Link href={`/catalog/tests/${encodeURIComponent(testId)}`}>{testId}</Link>:{" "}
              <FindingWords findings={found} />
            </li>
          ))}
        </ul>
      )}
      {tests.length > FEW && (
        <Group mt="sm">
          <Button
            size="compact-sm"
            variant="default"
            aria-expanded={isWhole}
            onClick={() => setWhole(!isWhole)}
          >
            {isWhole ? "Show less" : `Show all ${count(tests.length)}`}
          </Button>
        </Group>
      )}
    </Paper>
  );
}

/** Why a test measures nothing, or that its own solution does not pass. */
export function FindingWords({ findings }: { findings: Schemas["AuditFinding"][] }) {
  const broken = findings.find((finding) => finding.agent === "solution");
  const [first, ...others] = findings.filter((finding) => finding !== broken);
  if (broken && !first)
    return (
      <>
        its solution does not pass: <Untrusted text={broken.reason} />
      </>
    );
  if (!first) return null;
  if (first.agent === "nobody")
    return (
      <>
        no answer can pass: <Untrusted text={first.reason} />
      </>
    );
  return (
    <>
      passed by {first.kind === "cheat" ? "the cheat" : "the null agent"}{" "}
      {[first, ...others].map((finding) => finding.agent).join(" and ")}:{" "}
      <Untrusted text={first.reason} />
    </>
  );
}

type Found = Schemas["AuditFinding"][];

function byTest(findings: Found): [string, Found][] {
  const tests = new Map<string, Found>();
  for (const finding of findings)
    tests.set(finding.test_id, [...(tests.get(finding.test_id) ?? []), finding]);
  return [...tests];
}

function summary(audit: Schemas["TestAudit"]): string {
  const weak = new Set(audit.findings.map((finding) => finding.test_id)).size;
  if (audit.pending > 0) return `${count(audit.audited)} audited, ${count(audit.pending)} to go.`;
  if (weak === 0)
    return `Null agents (echo, refuse, apologise, say nothing) pass none of ${amount(audit.audited, "test")}.`;
  return `${amount(weak, "test")} of ${count(audit.audited)} can be passed without doing what they ask, or have a solution that fails.`;
}
