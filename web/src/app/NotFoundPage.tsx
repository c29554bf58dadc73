import { Button } from "@mantine/core";
import { Link } from "wouter";
import { EmptyNote } from "../ui/EmptyNote";
import { Page } from "../ui/Page";

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <EmptyNote
        title="There is nothing at this address"
        action={
          <Button component={Link} href="/">
            View agents
          </Button>
        }
      >
        It may be mistyped, or the page may have been removed.
      </EmptyNote>
    </Page>
  );
}
