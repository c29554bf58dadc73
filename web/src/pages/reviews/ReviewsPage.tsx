import { EmptyNote } from "../../ui/EmptyNote";
import { Page } from "../../ui/Page";

export default function ReviewsPage() {
  return (
    <Page title="Reviews">
      <EmptyNote title="Nothing here yet">This page is being built.</EmptyNote>
    </Page>
  );
}
