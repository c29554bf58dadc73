import { useQuery } from "@tanstack/react-query";
import { useTeam } from "../app/team";
import { dataOf } from "./client";

export function useJudges() {
  const { api } = useTeam();
  return useQuery({
    queryKey: ["judges"],
    queryFn: () => dataOf(api.GET("/api/judges")),
  });
}
