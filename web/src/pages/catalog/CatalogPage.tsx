import { EmptyNote } from "../../ui/EmptyNote";
import { Page } from "../../ui/Page";

export default function CatalogPage() {
  return (
    <Page title="Catalog">
      <EmptyNote title="Nothing here yet">This page is being built.</EmptyNote>
    </Page>
  );
}
