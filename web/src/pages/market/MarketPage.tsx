import { EmptyNote } from "../../ui/EmptyNote";
import { Page } from "../../ui/Page";

export default function MarketPage() {
  return (
    <Page title="Market">
      <EmptyNote title="Nothing here yet">This page is being built.</EmptyNote>
    </Page>
  );
}
