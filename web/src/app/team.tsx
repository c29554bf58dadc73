import { createContext, type ReactNode, useContext, useMemo } from "react";
import { Router, useLocation } from "wouter";
import { type Api, apiOf } from "../api/client";

export const ROOT = "/agent-dashboard";
export const DEFAULT_TEAM = "default";

interface Team {
  team: string;
  api: Api;
}

const TeamContext = createContext<Team | null>(null);

/** The current team and an API client for it. */
export function useTeam(): Team {
  const team = useContext(TeamContext);
  if (!team) throw new Error("useTeam outside of TeamProvider");
  return team;
}

/** The base path of a team's pages: the team is part of the address, so links are unambiguous. */
export function baseOf(team: string): string {
  return team === DEFAULT_TEAM ? ROOT : `${ROOT}/teams/${encodeURIComponent(team)}`;
}

/** The team that an address names. */
export function teamIn(path: string): string {
  const named = path.match(/^\/agent-dashboard\/teams\/([^/]+)/)?.[1];
  if (!named) return DEFAULT_TEAM;
  try {
    return decodeURIComponent(named);
  } catch {
    return named;
  }
}

export function TeamProvider({ children }: { children: ReactNode }) {
  // Renders this component again whenever the address changes.
  useLocation();
  const team = teamIn(window.location.pathname);
  const value = useMemo(() => ({ team, api: apiOf(team) }), [team]);
  return (
    <TeamContext value={value}>
      <Router key={team} base={baseOf(team)}>
        {children}
      </Router>
    </TeamContext>
  );
}
