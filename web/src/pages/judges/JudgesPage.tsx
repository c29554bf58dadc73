import { EmptyNote } from "../../ui/EmptyNote";
import { Page } from "../../ui/Page";

export default function JudgesPage() {
  return (
    <Page title="Judges">
      <EmptyNote title="Nothing here yet">This page is being built.</EmptyNote>
    </Page>
  );
}
