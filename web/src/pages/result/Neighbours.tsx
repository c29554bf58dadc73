import { Button } from "@mantine/core";
import { useEffect } from "react";
import { Link, useLocation } from "wouter";
import { ChevronLeft, ChevronRight } from "../../ui/icons";

interface NeighboursProps {
  /** Their addresses. */
  previous: string | null;
  next: string | null;
}

/** Links to the results before and after this one; the arrow keys work too. */
export function Neighbours({ previous, next }: NeighboursProps) {
  const [, navigate] = useLocation();
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      // Only where the arrows have no other use: not in a field, not in a scroll area.
      const at = document.activeElement;
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (at !== document.body && at?.tagName !== "H1") return;
      const towards =
        event.key === "ArrowLeft" ? previous : event.key === "ArrowRight" ? next : null;
      if (towards) navigate(towards);
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [previous, next, navigate]);
  return (
    <>
      {previous && (
        <Button component={Link} href={previous} variant="default" leftSection={<ChevronLeft />}>
          Previous
        </Button>
      )}
      {next && (
        <Button component={Link} href={next} variant="default" rightSection={<ChevronRight />}>
          Next
        </Button>
      )}
    </>
  );
}
