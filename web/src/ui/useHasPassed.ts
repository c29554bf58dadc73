import { useEffect, useState } from "react";

/** A timer cannot be set further ahead than this. */
const LONGEST_MS = 2 ** 31 - 1;

/** Whether a moment has passed; renders again when it does. */
export function useHasPassed(at: string | null): boolean {
  const left = at === null ? Number.POSITIVE_INFINITY : new Date(at).getTime() - Date.now();
  const [, renderAgain] = useState(0);
  useEffect(() => {
    if (left <= 0 || left > LONGEST_MS) return;
    const timer = window.setTimeout(() => renderAgain((renders) => renders + 1), left);
    return () => window.clearTimeout(timer);
  }, [left]);
  return left <= 0;
}
