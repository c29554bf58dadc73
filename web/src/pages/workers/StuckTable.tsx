import { Table } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Label, type Tone } from "../../ui/Label";
import { count, seconds } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import { RunLink } from "./RunLink";
import { Section } from "./Section";

type Stuck = Schemas["Stuck"];

/** Why something waits, in a word or two. */
const WHY: Record<Stuck["why"], { label: string; tone: Tone }> = {
  no_worker: { label: "no worker", tone: "bad" },
  no_label: { label: "no label", tone: "bad" },
  no_sandbox: { label: "no sandbox", tone: "bad" },
  not_served: { label: "no worker", tone: "bad" },
  problem: { label: "problem", tone: "bad" },
  silent_worker: { label: "silent worker", tone: "warn" },
  not_queued: { label: "not queued", tone: "warn" },
  paused: { label: "paused", tone: "warn" },
  ending: { label: "ending", tone: "quiet" },
};

/** What waits although it should not, and why. */
export function StuckTable({ stuck }: { stuck: Stuck[] }) {
  return (
    <Section title="What is stuck">
      <WideTable isCards label="What is stuck, and why" minWidth={640}>
        <Head>
          <Table.Th role="columnheader">Run</Table.Th>
          <Table.Th role="columnheader">State</Table.Th>
          <Table.Th role="columnheader">Reason</Table.Th>
          <Table.Th role="columnheader" ta="right">
            Shards
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            Waiting
          </Table.Th>
        </Head>
        <Table.Tbody role="rowgroup">
          {stuck.map((one) => (
            <Table.Tr role="row" key={`${one.run_id} ${one.why} ${one.reason}`}>
              <Cell place="title">
                <RunLink runId={one.run_id} team={one.team_id} agent={one.agent_id} />
              </Cell>
              <Cell place="beside">
                <Label tone={WHY[one.why].tone}>{WHY[one.why].label}</Label>
              </Cell>
              <Cell miw={200}>
                <Untrusted text={one.reason} />
              </Cell>
              <Cell label="Shards" ta="right">
                {one.shards ? count(one.shards) : "–"}
              </Cell>
              <Cell label="Waiting" ta="right">
                {seconds(one.waiting_seconds)}
              </Cell>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
    </Section>
  );
}
