import { Group, Paper, Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Outcome } from "../../ui/Outcome";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { Dispute } from "./Dispute";
import classes from "./market.module.css";
import { PendingVerdict } from "./PendingVerdict";
import { Reason } from "./Reason";

const ENOUGH = 60;

/** The judge's score, and the arbiter's after a dispute, each with its reason. */
export function Verdict({ task }: { task: Schemas["Task"] }) {
  return (
    <Paper withBorder p="lg" component="section" aria-label="Verdict">
      <Title order={2} size="h4" mb="xs">
        Verdict
      </Title>
      {task.score === null ? (
        <PendingVerdict task={task} />
      ) : (
        <ol className={classes.scores}>
          <li>
            <Score
              value={task.score}
              by={task.judged_by}
              office={task.judged_by === task.judge ? "the judge" : "the fallback judge"}
              at={task.judged_at}
            />
            <Reason uri={task.reasonURI} />
          </li>
          <Dispute task={task} />
          {task.resolutionURI && task.final_score !== null && (
            <li>
              <Score
                value={task.final_score}
                by={task.arbiter}
                office="the arbiter"
                at={task.ended_at}
              />
              <Reason uri={task.resolutionURI} />
            </li>
          )}
        </ol>
      )}
    </Paper>
  );
}

interface ScoreProps {
  value: number;
  by: string | null;
  office: string;
  at: string | null;
}

function Score({ value, by, office, at }: ScoreProps) {
  return (
    <Group gap="sm">
      <Outcome passed={value >= ENOUGH} />
      <Text>
        {value} of 100 by <Untrusted text={by ?? "nobody"} />, {office}, <When at={at} />
      </Text>
    </Group>
  );
}
