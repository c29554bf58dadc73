import { Box, Container, Group } from "@mantine/core";
import { type ReactNode, Suspense } from "react";
import { Link } from "wouter";
import { Loading } from "../ui/Loading";
import { ConnectionMark } from "./ConnectionMark";
import { ErrorBoundary } from "./ErrorBoundary";
import { Navigation } from "./Navigation";
import { SchemeSwitch } from "./SchemeSwitch";
import classes from "./Shell.module.css";
import { TeamChooser } from "./TeamChooser";
import { TokenGate } from "./TokenGate";

/** The frame of every page: navigation, team, and connection status. */
export function Shell({ children }: { children: ReactNode }) {
  return (
    <>
      <a href="#main" className={classes.skip}>
        Skip to content
      </a>
      <header className={classes.header}>
        <Container size="xl" className={classes.bar}>
          <Link href="/" className={classes.brand}>
            <img src="/agent-dashboard/icon.svg" alt="" width={28} height={28} />
            Arena
          </Link>
          <Navigation />
          <Group gap="xs" wrap="nowrap" className={classes.tools}>
            <ConnectionMark />
            <TeamChooser />
            <SchemeSwitch />
          </Group>
        </Container>
      </header>
      <Box component="main" id="main" tabIndex={-1} className={classes.main}>
        <Container size="xl">
          <TokenGate>
            <ErrorBoundary>
              <Suspense fallback={<Loading what="the page" />}>{children}</Suspense>
            </ErrorBoundary>
          </TokenGate>
        </Container>
      </Box>
    </>
  );
}
