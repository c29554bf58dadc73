import { useQuery } from "@tanstack/react-query";
import { useTeam } from "../app/team";
import { asked } from "./client";

export function useJudges() {
  const { api } = useTeam();
  return useQuery({
    queryKey: ["judges"],
    queryFn: () => asked(api.GET("/api/judges")),
  });
}
