import { useQuery } from "@tanstack/react-query";
import { useTeam } from "../app/team";
import { dataOf } from "./client";

/** Bytes by their CID: standards, results, verdict records, reasons. */
export function useContent(cid: string) {
  const { api } = useTeam();
  return useQuery({
    queryKey: ["content", cid],
    queryFn: () =>
      dataOf(api.GET("/api/content/{cid}", { params: { path: { cid } }, parseAs: "arrayBuffer" })),
    // The content of a CID never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });
}
