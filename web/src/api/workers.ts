import { useQuery } from "@tanstack/react-query";
import { useTeam } from "../app/team";
import { dataOf } from "./client";
import { keys } from "./keys";

/** The workers, the queue, the runs in it, and what is stuck. */
export function useWorkers() {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: keys.workers(team),
    queryFn: () => dataOf(api.GET("/api/workers")),
  });
}
