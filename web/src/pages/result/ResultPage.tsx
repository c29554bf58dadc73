import { EmptyNote } from "../../ui/EmptyNote";
import { Page } from "../../ui/Page";

export default function ResultPage() {
  return (
    <Page title="Result">
      <EmptyNote title="Nothing here yet">This page is being built.</EmptyNote>
    </Page>
  );
}
