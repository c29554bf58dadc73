import { Text } from "@mantine/core";
import { useLayoutEffect, useRef, useState } from "react";
import type { Schemas } from "../../api/queries";
import { useAnswer } from "../../api/reviews";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { ProblemNote } from "../../ui/ProblemNote";
import { isComplete, type Said } from "./complete";
import { ItemRow } from "./ItemRow";
import classes from "./reviews.module.css";

interface ChecklistProps {
  details: Schemas["ReviewDetails"];
  reviewer: string;
}

interface Asked {
  index: number;
  passed: boolean;
}

/** The items, answered by keys: p passes, f fails, n writes a note, arrows go up and down. */
export function Checklist({ details, reviewer }: ChecklistProps) {
  const { items, review } = details;
  const answer = useAnswer(review.id);
  const [current, setCurrent] = useState(0);
  const [notes, setNotes] = useState<Record<number, string>>({});
  const [asked, setAsked] = useState<Asked | null>(null);
  const said = useRef<Said[]>([]);
  const list = useRef<HTMLOListElement>(null);
  const isOpen = review.status === "open" || review.status === "answered";

  const go = (index: number) => {
    const next = Math.max(0, Math.min(items.length - 1, index));
    setCurrent(next);
    list.current?.querySelectorAll<HTMLElement>("[data-pass]")[next]?.focus();
  };
  const give = ({ index, passed }: Asked) => {
    const item = items[index];
    if (!item) return Promise.resolve();
    const note = notes[index]?.trim() || null;
    const given = { place: item.place, item: item.item, passed, note };
    said.current.push({ index, reviewer });
    return answer.mutateAsync({ reviewer, answers: [given] });
  };
  const say = (index: number, passed: boolean) => {
    if (!isOpen) return;
    const isLast = isComplete(details, [...said.current, { index, reviewer }]);
    // The last answer moves a task's money.
    if (isLast && review.subject.kind === "task") return setAsked({ index, passed });
    // What fails is told below the list.
    give({ index, passed }).catch(() => {});
    go(index + 1);
  };
  const press = (event: KeyboardEvent) => {
    const { target } = event;
    const isTyping = target instanceof HTMLElement && target.closest("input, textarea, select");
    if (asked || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    // A key that is held down answers one item; only the arrows go on.
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
          Keys: <kbd>p</kbd> pass, <kbd>f</kbd> fail, <kbd>n</kbd> note, <kbd>↑</kbd> <kbd>↓</kbd>{" "}
          other item. Every answer is kept at once.
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
      {answer.error && !asked && <ProblemNote error={answer.error} />}
      <ConfirmDialog
        question="Give the last answer?"
        confirm="Give the answer"
        refuse="Not yet"
        opened={asked !== null}
        onClose={() => setAsked(null)}
        onConfirm={async () => asked && give(asked)}
      >
        It completes the review, and the verdict is given: task {review.subject.id} pays its agent
        or refunds its poster. That cannot be undone.
      </ConfirmDialog>
    </>
  );
}

/** What this reviewer has said, as it stands. */
export function mine(item: Schemas["ReviewItem"], reviewer: string) {
  return item.answers.find((one) => one.reviewer === reviewer && one.is_standing);
}
