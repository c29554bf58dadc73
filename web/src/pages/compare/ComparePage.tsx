import { EmptyNote } from "../../ui/EmptyNote";
import { Page } from "../../ui/Page";

export default function ComparePage() {
  return (
    <Page title="Compare">
      <EmptyNote title="Nothing here yet">This page is being built.</EmptyNote>
    </Page>
  );
}
