import { Link } from "wouter";
import { baseOf } from "../../app/team";
import { Untrusted } from "../../ui/Untrusted";

interface RunLinkProps {
  runId: string;
  team: string;
  agent: string;
}

/** The agent of a run, as a link to the run: it may be of another team than this page. */
export function RunLink({ runId, team, agent }: RunLinkProps) {
  return (
    <Link href={`~${baseOf(team)}/runs/${runId}`}>
      <strong>
        <Untrusted text={agent} />
      </strong>
    </Link>
  );
}
