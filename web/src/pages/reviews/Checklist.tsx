import { Text } from "@mantine/core";
import { useLayoutEffect, useRef, useState } from "react";
import type { Schemas } from "../../api/queries";
import { useAnswer } from "../../api/reviews";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { ProblemNote } from "../../ui/ProblemNote";
import { type Given, isComplete } from "./complete";
import { ItemRow } from "./ItemRow";
import classes from "./reviews.module.css";

interface ChecklistProps {
  details: Schemas["ReviewDetails"];
  reviewer: string;
}

interface Pending {
  index: number;
  passed: boolean;
}

/** The items, answered by keys: p passes, f fails, n writes a note, arrows go up and down. */
export function Checklist({ details, reviewer }: ChecklistProps) {
  const { items, review } = details;
  const answer = useAnswer(review.id);
  const [current, setCurrent] = useState(0);
  const [notes, setNotes] = useState<Record<number, string>>({});
  const [pending, setPending] = useState<Pending | null>(null);
  const given = useRef<Given[]>([]);
  const list = useRef<HTMLOListElement>(null);
  const isOpen = review.status === "open" || review.status === "answered";

  const go = (index: number) => {
    const next = Math.max(0, Math.min(items.length - 1, index));
    setCurrent(next);
    list.current?.querySelectorAll<HTMLElement>("[data-pass]")[next]?.focus();
  };
  const give = ({ index, passed }: Pending) => {
    const item = items[index];
    if (!item) return Promise.resolve();
    const note = notes[index]?.trim() || null;
    given.current.push({ index, reviewer });
    const { place } = item;
    return answer.mutateAsync({ reviewer, answers: [{ place, item: item.item, passed, note }] });
  };
  const say = (index: number, passed: boolean) => {
    if (!isOpen) return;
    const isLast = isComplete(details, [...given.current, { index, reviewer }]);
    // The last answer moves a task's money.
    if (isLast && review.subject.kind === "task") return setPending({ index, passed });
    // A failure is shown below the list.
    give({ index, passed }).catch(() => {});
    go(index + 1);
  };
  const press = (event: KeyboardEvent) => {
    const { target } = event;
    const isTyping = target instanceof HTMLElement && target.closest("input, textarea, select");
    if (pending || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    // A key that is held down answers one item; only arrows repeat.
    if (event.repeat && !event.key.startsWith("Arrow")) return event.preventDefault();
    const acts: Record<string, () => void> = {
      p: () => say(current, true),
      f: () => say(current, false),
      n: () => list.current?.querySelectorAll<HTMLElement>("[data-note]")[current]?.focus(),
      ArrowDown: () => go(current + 1),
      ArrowUp: () => go(current - 1),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  const pressed = useRef(press);
  // Layout effects: keys must work as soon as the items are visible, and act on what is shown.
  useLayoutEffect(() => {
    pressed.current = press;
  });
  useLayoutEffect(() => {
    const hear = (event: KeyboardEvent) => pressed.current(event);
    window.addEventListener("keydown", hear);
    return () => window.removeEventListener("keydown", hear);
  }, []);

  return (
    <>
      {isOpen && (
        <Text size="sm" c="dimmed" mb="sm">
          Keys: <kbd>p</kbd> pass, <kbd>f</kbd> fail, <kbd>n</kbd> note, <kbd>Up</kbd> and{" "}
          <kbd>Down</kbd> move. Answers are saved immediately.
        </Text>
      )}
      <ol className={classes.items} ref={list}>
        {items.map((item, index) => (
          <ItemRow
            key={`${item.place.join(".")}:${item.item}`}
            item={item}
            reviewer={reviewer}
            isCurrent={index === current}
            isOpen={isOpen}
            note={notes[index] ?? mine(item, reviewer)?.note ?? ""}
            onNote={(note) => setNotes({ ...notes, [index]: note })}
            onFocus={() => setCurrent(index)}
            onAnswer={(passed) => say(index, passed)}
            onLeave={() => go(index)}
          />
        ))}
      </ol>
      {answer.error && !pending && <ProblemNote error={answer.error} />}
      <ConfirmDialog
        question="Submit the last answer?"
        confirm="Submit answer"
        refuse="Cancel"
        opened={pending !== null}
        onClose={() => setPending(null)}
        onConfirm={async () => pending && give(pending)}
      >
        This completes the review and gives the verdict: task {review.subject.id} pays its agent or
        refunds its poster. It cannot be undone.
      </ConfirmDialog>
    </>
  );
}

/** This reviewer's current answer. */
function mine(item: Schemas["ReviewItem"], reviewer: string) {
  return item.answers.find((one) => one.reviewer === reviewer && one.is_standing);
}
