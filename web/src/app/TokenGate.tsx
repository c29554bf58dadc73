import { Alert, Button, Paper, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { Warning } from "../ui/icons";
import { Loading } from "../ui/Loading";
import { useAccess } from "./access";
import { baseOf, useTeam } from "./team";

/** Shows the pages, or asks for a token if the server requires one. */
export function TokenGate({ children }: { children: ReactNode }) {
  const { team } = useTeam();
  const { isOpen, teams } = useAccess();
  const [, navigate] = useLocation();
  // A token is for one team; the address may name another.
  const only = teams && !teams.is_local ? teams.teams[0] : undefined;
  const elsewhere = only !== undefined && only !== team ? only : undefined;
  useEffect(() => {
    if (elsewhere !== undefined) navigate(`~${baseOf(elsewhere)}`, { replace: true });
  }, [elsewhere, navigate]);

  if (!isOpen) return <TokenForm />;
  return elsewhere === undefined ? children : null;
}

function TokenForm() {
  const { isChecking, wasRefused, signIn } = useAccess();
  const [token, setToken] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn(token.trim());
  };
  if (isChecking && !token) return <Loading what="your team" />;
  return (
    <Paper withBorder p="xl" maw={480} mx="auto" mt="xl">
      <form onSubmit={submit}>
        <Stack>
          <Title order={1} size="h3">
            This server needs a token
          </Title>
          {wasRefused && (
            <Alert role="alert" color="red" variant="light" icon={<Warning />}>
              The server does not accept this token. Check it for typos, or ask for another.
            </Alert>
          )}
          <Text>
            Ask its operator: tokens are set in <code>ARENA_TOKENS</code>. The token is kept in this
            tab only.
          </Text>
          <PasswordInput
            label="Token"
            required
            // The page asks for nothing else.
            autoFocus
            autoComplete="off"
            value={token}
            error={wasRefused}
            onChange={(event) => setToken(event.currentTarget.value)}
          />
          <Button type="submit" loading={isChecking}>
            Sign in
          </Button>
        </Stack>
      </form>
    </Paper>
  );
}
