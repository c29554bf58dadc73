import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { dataOf } from "../api/client";
import { keys } from "../api/keys";
import { asProblem } from "../api/problem";
import type { Schemas } from "../api/queries";
import { isSendable, storedToken, storeToken } from "../api/token";
import { useTeam } from "./team";

interface Access {
  /** Whether requests may be sent: no token is needed, or there is one that was not refused. */
  isOpen: boolean;
  /** Whether a token is being checked. */
  isChecking: boolean;
  wasRefused: boolean;
  teams?: Schemas["TeamList"];
  signIn: (token: string) => void;
}

const AccessContext = createContext<Access | null>(null);

export function useAccess(): Access {
  const access = useContext(AccessContext);
  if (!access) throw new Error("useAccess outside of AccessProvider");
  return access;
}

/** The server says in the page itself whether it needs a token. */
function isTokenNeeded(): boolean {
  return (
    document.querySelector<HTMLMetaElement>("meta[name=arena-needs-token]")?.content === "true"
  );
}

/** Decides whether requests may be sent. Until then there are none, except to check a token. */
export function AccessProvider({ children }: { children: ReactNode }) {
  const { api } = useTeam();
  const queries = useQueryClient();
  const [needsToken, setNeedsToken] = useState(isTokenNeeded);
  const [hasToken, setHasToken] = useState(() => storedToken() !== null);
  const [wasRefused, setRefused] = useState(false);
  const { data, error } = useQuery({
    queryKey: keys.teams,
    queryFn: () => dataOf(api.GET("/api/teams")),
    enabled: hasToken || !needsToken,
  });
  const isRefused = error !== null && asProblem(error).status === 401;
  useEffect(() => {
    if (!isRefused) return;
    storeToken(null);
    setRefused(hasToken);
    setHasToken(false);
    setNeedsToken(true);
    queries.removeQueries({ queryKey: keys.teams });
  }, [isRefused, hasToken, queries]);

  const signIn = (token: string) => {
    setRefused(!isSendable(token));
    if (!isSendable(token)) return;
    storeToken(token);
    setHasToken(true);
    void queries.resetQueries();
  };
  const isKnown = data !== undefined || error !== null;
  const isOpen = !isRefused && (!needsToken || (hasToken && isKnown));
  const isChecking = needsToken && hasToken && !isKnown;
  return (
    <AccessContext value={{ isOpen, isChecking, wasRefused, teams: data, signIn }}>
      {children}
    </AccessContext>
  );
}
