import { EmptyNote } from "../../ui/EmptyNote";
import { Page } from "../../ui/Page";

export default function LeaderboardPage() {
  return (
    <Page title="Leaderboard">
      <EmptyNote title="Nothing here yet">This page is being built.</EmptyNote>
    </Page>
  );
}
