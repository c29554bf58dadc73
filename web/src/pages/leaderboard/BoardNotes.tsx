import { Alert, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useSuite } from "../../api/boards";
import type { Schemas } from "../../api/queries";
import { Clock } from "../../ui/icons";
import { amount } from "../../ui/numbers";
import { boardHref, suiteHref, versionName } from "../../ui/suiteWords";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";

interface BoardNotesProps {
  board: Schemas["Leaderboard"];
  /** The version that the address names. */
  version?: string;
}

/** Says what is not obvious about a board: it is of the past, or of an older version. */
export function BoardNotes({ board, version }: BoardNotesProps) {
  const suite = useSuite(version ? board.suite : null);
  const shown = suite.data?.versions.find((one) => one.is_shown);
  const isOther = version && shown && board.suite_version !== shown.version;
  if (!board.at && !isOther && board.newer.length === 0) return null;
  return (
    <Stack gap="xs">
      {board.at && (
        <Note>
          The board as it was on <When at={board.at} hasSeconds />.{" "}
          <Link href={boardHref({ suite: board.is_default_suite ? null : board.suite })}>
            Show the current board
          </Link>
        </Note>
      )}
      {isOther && board.suite && (
        <Note>
          Another version of this suite: its board shows{" "}
          <Link href={boardHref({ suite: board.suite })}>
            <Untrusted text={versionName(shown.version, shown.label)} />
          </Link>
          . Results of different versions are never mixed.
        </Note>
      )}
      {board.newer.length > 0 && board.suite && (
        <Note>
          The suite has been edited since: no complete run yet of{" "}
          {board.newer.map((one, index) => (
            <span key={one.version}>
              {index > 0 && ", "}
              version <Untrusted text={versionName(one.version, one.label)} /> (
              {amount(one.tests, "test")}, since <When at={one.current_since} />)
            </span>
          ))}
          . <Link href={suiteHref(board.suite)}>What was edited</Link>
        </Note>
      )}
    </Stack>
  );
}

function Note({ children }: { children: ReactNode }) {
  return (
    <Alert color="gray" icon={<Clock />} p="sm" role="note">
      {children}
    </Alert>
  );
}
