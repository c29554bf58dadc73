import { useSearchParams } from "wouter";

type Choices = Record<string, string | null | undefined>;

/** The filters of a page, which are part of its address, and how to change some of them. */
export function useFilters(): [URLSearchParams, (choices: Choices) => void] {
  const [search, setSearch] = useSearchParams();
  const choose = (choices: Choices) =>
    setSearch((before) => {
      const after = new URLSearchParams(before);
      for (const [name, value] of Object.entries(choices))
        if (value) after.set(name, value);
        else after.delete(name);
      return after;
    });
  return [search, choose];
}
