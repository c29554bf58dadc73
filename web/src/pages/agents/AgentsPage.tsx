import { EmptyNote } from "../../ui/EmptyNote";
import { Page } from "../../ui/Page";

export default function AgentsPage() {
  return (
    <Page title="Agents">
      <EmptyNote title="Nothing here yet">This page is being built.</EmptyNote>
    </Page>
  );
}
