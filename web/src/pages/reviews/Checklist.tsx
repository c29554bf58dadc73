import { Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { Schemas } from "../../api/queries";
import { useAnswer } from "../../api/reviews";
import { ProblemNote } from "../../ui/ProblemNote";
import { ItemRow } from "./ItemRow";
import classes from "./reviews.module.css";

interface ChecklistProps {
  details: Schemas["ReviewDetails"];
  reviewer: string;
}

/** The items, answered by keys: p passes, f fails, n writes a note, arrows go up and down. */
export function Checklist({ details, reviewer }: ChecklistProps) {
  const { items, review } = details;
  const answer = useAnswer(review.id);
  const [current, setCurrent] = useState(0);
  const [notes, setNotes] = useState<Record<number, string>>({});
  const list = useRef<HTMLOListElement>(null);
  const isOpen = review.status === "open" || review.status === "answered";

  const go = (index: number) => {
    const next = Math.max(0, Math.min(items.length - 1, index));
    setCurrent(next);
    list.current?.querySelectorAll<HTMLElement>("[data-pass]")[next]?.focus();
  };
  const say = (index: number, passed: boolean) => {
    const item = items[index];
    if (!item || !isOpen) return;
    const note = notes[index]?.trim() || null;
    answer.mutate({ reviewer, answers: [{ place: item.place, item: item.item, passed, note }] });
    go(index + 1);
  };
  const press = (event: KeyboardEvent) => {
    const { target } = event;
    const isTyping = target instanceof HTMLElement && target.closest("input, textarea, select");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
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
  useEffect(() => {
    pressed.current = press;
  });
  useEffect(() => {
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
      {answer.error && <ProblemNote error={answer.error} />}
    </>
  );
}

/** What this reviewer has said, as it stands. */
export function mine(item: Schemas["ReviewItem"], reviewer: string) {
  return item.answers.find((one) => one.reviewer === reviewer && one.is_standing);
}
