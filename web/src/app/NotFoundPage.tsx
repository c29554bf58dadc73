import { Button } from "@mantine/core";
import { Link } from "wouter";
import { EmptyNote } from "../ui/EmptyNote";
import { Page } from "../ui/Page";

export function NotFoundPage() {
  return (
    <Page title="There is no such page">
      <EmptyNote
        title="The address leads nowhere"
        action={
          <Button component={Link} href="/">
            To the agents
          </Button>
        }
      >
        It may be mistyped, or what it named may be gone.
      </EmptyNote>
    </Page>
  );
}
