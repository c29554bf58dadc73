import { Button, Group, Table, Text } from "@mantine/core";
import { Link } from "wouter";
import { useArchive } from "../../api/boards";
import type { Schemas } from "../../api/queries";
import { amount } from "../../ui/numbers";
import { ProblemNote } from "../../ui/ProblemNote";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { Cell, Head, WideTable } from "../../ui/WideTable";

interface ArchiveNoteProps {
  /** Entries that are not listed because they are archived. */
  hidden: number;
  isShown: boolean;
  onShow: (isShown: boolean) => void;
}

/** How many entries are archived; on demand, what was archived or deleted, by whom and why. */
export function ArchiveNote({ hidden, isShown, onShow }: ArchiveNoteProps) {
  const archive = useArchive(isShown);
  if (!isShown && hidden === 0) return null;
  const marks = archive.data?.marks ?? [];
  return (
    <section aria-label="Archive">
      <Group gap="sm">
        <Text size="sm">
          {isShown
            ? "Archived agents are listed and marked."
            : `${amount(hidden, "agent")} archived: not listed, but counted for the ranks.`}
        </Text>
        <Button
          size="compact-sm"
          variant="default"
          aria-expanded={isShown}
          onClick={() => onShow(!isShown)}
        >
          {isShown ? "Hide archived" : "Show archived"}
        </Button>
      </Group>
      {isShown && archive.error && (
        <ProblemNote error={archive.error} onRetry={() => archive.refetch()} />
      )}
      {isShown && marks.length > 0 && (
        <div style={{ marginTop: "0.75rem" }}>
          <MarkTable marks={marks} />
        </div>
      )}
    </section>
  );
}

function MarkTable({ marks }: { marks: Schemas["ArchiveMark"][] }) {
  return (
    <WideTable isCards label="Archived and deleted" minWidth={640}>
      <Head>
        <Table.Th role="columnheader">Agent</Table.Th>
        <Table.Th role="columnheader">What</Table.Th>
        <Table.Th role="columnheader">Reason</Table.Th>
        <Table.Th role="columnheader">By</Table.Th>
        <Table.Th role="columnheader">When</Table.Th>
      </Head>
      <Table.Tbody role="rowgroup">
        {marks.map((mark) => (
          <Table.Tr
            role="row"
            key={`${mark.agent_id}:${mark.agent_version} ${mark.run_id} ${mark.at}`}
          >
            <Cell place="title">
              <Untrusted text={`${mark.agent_id} ${mark.agent_version}`} />
            </Cell>
            <Cell place="beside">
              <What mark={mark} />
            </Cell>
            <Cell label="Reason">
              <Untrusted text={mark.reason} />
            </Cell>
            <Cell label="By">
              <Untrusted text={mark.by} />
            </Cell>
            <Cell label="When">
              <When at={mark.at} />
            </Cell>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  );
}

function What({ mark }: { mark: Schemas["ArchiveMark"] }) {
  const done = mark.is_deleted ? "deleted" : "archived";
  if (mark.run_id === null) return <>agent version {done}</>;
  if (mark.is_deleted) return <>run {done}</>;
  return (
    <>
      <Link href={`/runs/${mark.run_id}`}>run</Link> {done}
    </>
  );
}
