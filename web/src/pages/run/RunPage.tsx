import { EmptyNote } from "../../ui/EmptyNote";
import { Page } from "../../ui/Page";

export default function RunPage() {
  return (
    <Page title="Run">
      <EmptyNote title="Nothing here yet">This page is being built.</EmptyNote>
    </Page>
  );
}
