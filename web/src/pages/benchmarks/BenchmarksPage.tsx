import { EmptyNote } from "../../ui/EmptyNote";
import { Page } from "../../ui/Page";

export default function BenchmarksPage() {
  return (
    <Page title="Benchmarks">
      <EmptyNote title="Nothing here yet">This page is being built.</EmptyNote>
    </Page>
  );
}
