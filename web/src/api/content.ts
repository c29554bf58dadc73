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

/** The same as text; undefined while it loads, and if it is not text. */
export function useText(cid: string) {
  const { data, error, isPending } = useContent(cid);
  return { text: data && textOf(data), error, isPending };
}

export function textOf(data: ArrayBuffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch {
    return undefined;
  }
}
