import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy } from "react";
import { Route, Switch } from "wouter";
import { ProblemError } from "../api/problem";
import { AccessProvider } from "./access";
import { LiveProvider } from "./live";
import { NotFoundPage } from "./NotFoundPage";
import { Shell } from "./Shell";
import { TeamProvider } from "./team";

const AgentsPage = lazy(() => import("../pages/agents/AgentsPage"));
const AgentPage = lazy(() => import("../pages/agent/AgentPage"));
const BenchmarksPage = lazy(() => import("../pages/benchmarks/BenchmarksPage"));
const LeaderboardPage = lazy(() => import("../pages/leaderboard/LeaderboardPage"));
const RunPage = lazy(() => import("../pages/run/RunPage"));
const ResultPage = lazy(() => import("../pages/result/ResultPage"));
const HistoryPage = lazy(() => import("../pages/history/HistoryPage"));
const SuitesPage = lazy(() => import("../pages/suites/SuitesPage"));
const ComparePage = lazy(() => import("../pages/compare/ComparePage"));
const CatalogPage = lazy(() => import("../pages/catalog/CatalogPage"));
const ReviewsPage = lazy(() => import("../pages/reviews/ReviewsPage"));
const MarketPage = lazy(() => import("../pages/market/MarketPage"));
const JudgesPage = lazy(() => import("../pages/judges/JudgesPage"));
const WorkersPage = lazy(() => import("../pages/workers/WorkersPage"));

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The event stream says when something has changed, so there is no polling.
      staleTime: 30_000,
      retry: (count, failed) => count < 2 && isTemporary(failed),
      // Fail at once instead of pausing while the browser believes it is offline.
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

/** Whether a retry may succeed: the server is unreachable or busy, the request is not at fault. */
function isTemporary(failed: Error): boolean {
  return failed instanceof ProblemError && [0, 502, 503, 504].includes(failed.problem.status);
}

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <TeamProvider>
        <AccessProvider>
          <LiveProvider>
            <Shell>
              <Switch>
                <Route path="/" component={AgentsPage} />
                <Route path="/agents/:agentId" component={AgentPage} />
                <Route path="/benchmarks" component={BenchmarksPage} />
                <Route path="/runs/:runId" component={RunPage} />
                <Route path="/runs/:runId/results/:resultId" component={ResultPage} />
                <Route path="/leaderboard" component={LeaderboardPage} />
                <Route path="/leaderboard/history" component={HistoryPage} />
                <Route path="/suites/*?" component={SuitesPage} />
                <Route path="/compare" component={ComparePage} />
                <Route path="/catalog/*?" component={CatalogPage} />
                <Route path="/reviews/*?" component={ReviewsPage} />
                <Route path="/market/*?" component={MarketPage} />
                <Route path="/judges" component={JudgesPage} />
                <Route path="/workers" component={WorkersPage} />
                <Route component={NotFoundPage} />
              </Switch>
            </Shell>
          </LiveProvider>
        </AccessProvider>
      </TeamProvider>
    </QueryClientProvider>
  );
}
