import { Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { amount, count } from "../../ui/numbers";
import { provenanceName } from "../../ui/suiteWords";
import { Untrusted } from "../../ui/Untrusted";
import classes from "./RunOrigin.module.css";

const NAMES: Record<string, string> = {
  arena: "Arena version",
  agent_file: "Agent file",
  connector: "Connector",
  max_concurrency: "Most requests at once",
  per_minute: "Requests per minute",
  concurrency: "Concurrency",
  timeouts: "Timeouts",
  retries: "Retries",
  max_wait_seconds: "Longest wait, in seconds",
  sandbox: "Sandbox",
  judge: "Judge",
  machine: "Machine",
};

/** Digits of a digest that tell two files apart. */
const DIGITS = 12;

/** Where the run was executed, what was verified, and the environment it ran in. */
export function RunOrigin({ run }: { run: Schemas["Run"] }) {
  const environment = run.environment ?? {};
  // In one order, whatever the order in the database.
  const names = new Set([...Object.keys(NAMES), ...Object.keys(environment)]);
  const facts = [...names].filter((name) => name in environment);
  return (
    <div>
      {run.provenance === "reported" && <Verification run={run} />}
      {facts.length > 0 && (
        <details className={classes.details}>
          <summary>
            {run.provenance === "reported"
              ? "Environment (as stated by the sender)"
              : `Environment: ${provenanceName(run.provenance)}`}
          </summary>
          <Text size="sm" c="dimmed" my="xs">
            What can change results besides the agent and the tests.
          </Text>
          <dl className={classes.facts}>
            {facts.map((name) => (
              <div key={name}>
                <dt>{NAMES[name] ?? name.replaceAll("_", " ")}</dt>
                <dd>
                  <Untrusted text={shown(name, environment[name])} />
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </div>
  );
}

/** What this server checked of a run that was pushed to it. */
function Verification({ run }: { run: Schemas["Run"] }) {
  const found = run.verification ?? {};
  const replayed = numberIn(found.replayed);
  const all = numberIn(found.of_results) ?? run.completed_tests;
  const unanswered = numberIn(found.without_answer) ?? 0;
  const unproved = numberIn(found.unproved_tests) ?? 0;
  const reasons = Object.entries(recordIn(found.reasons));
  return (
    <Text size="sm" mb="xs">
      <strong>Reported from elsewhere: a claim.</strong>{" "}
      {replayed === null
        ? "None of its verdicts was replayed here."
        : `${count(replayed)} of ${amount(all, "verdict")} replayed here with the same outcome.`}
      {reasons.length > 0 && (
        <>
          {" Not replayed: "}
          <Untrusted
            text={reasons.map(([reason, number]) => `${reason} (${String(number)})`).join(", ")}
          />
          .
        </>
      )}
      {unanswered > 0 && ` ${amount(unanswered, "result")} without an answer: nothing to replay.`}
      {unproved > 0 &&
        ` ${amount(unproved, "other test")} of the suite may apply to the agent, so the run is not taken as complete.`}
    </Text>
  );
}

function shown(name: string, value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (name === "agent_file" && typeof value === "string") return value.slice(0, DIGITS);
  if (Array.isArray(value)) return value.map(String).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function numberIn(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function recordIn(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
