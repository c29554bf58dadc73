import { EmptyNote } from "../../ui/EmptyNote";
import { Page } from "../../ui/Page";

export default function AgentPage() {
  return (
    <Page title="Agent">
      <EmptyNote title="Nothing here yet">This page is being built.</EmptyNote>
    </Page>
  );
}
