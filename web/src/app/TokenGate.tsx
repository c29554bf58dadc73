import { Button, Paper, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { dataOf } from "../api/client";
import { keys } from "../api/keys";
import { asProblem } from "../api/problem";
import { storedToken, storeToken } from "../api/token";
import { baseOf, useTeam } from "./team";

/** Shows the pages, or asks for a token if the server requires one. */
export function TokenGate({ children }: { children: ReactNode }) {
  const { team, api } = useTeam();
  const [, navigate] = useLocation();
  const { data, error } = useQuery({
    queryKey: keys.teams,
    queryFn: () => dataOf(api.GET("/api/teams")),
  });
  // A token is for one team; the address may name another.
  const only = data && !data.is_local ? data.teams[0] : undefined;
  const elsewhere = only !== undefined && only !== team ? only : undefined;
  useEffect(() => {
    if (elsewhere !== undefined) navigate(`~${baseOf(elsewhere)}`, { replace: true });
  }, [elsewhere, navigate]);

  const problem = error ? asProblem(error) : null;
  if (problem?.status === 401) return <TokenForm wasRefused={storedToken() !== null} />;
  return elsewhere === undefined ? children : null;
}

function TokenForm({ wasRefused }: { wasRefused: boolean }) {
  const queries = useQueryClient();
  const [token, setToken] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    storeToken(token.trim());
    void queries.resetQueries();
  };
  return (
    <Paper withBorder p="xl" maw={480} mx="auto" mt="xl">
      <form onSubmit={submit}>
        <Stack>
          <Title order={1} size="h3">
            This server needs a token
          </Title>
          <Text>
            Ask its operator: tokens are set in <code>ARENA_TOKENS</code>. The token is kept in this
            tab only.
          </Text>
          <PasswordInput
            label="Token"
            required
            autoComplete="off"
            value={token}
            error={wasRefused ? "The server does not accept this token." : undefined}
            onChange={(event) => setToken(event.currentTarget.value)}
          />
          <Button type="submit">Sign in</Button>
        </Stack>
      </form>
    </Paper>
  );
}
