import { Button, Group, Text, TextInput } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Check, Cross } from "../../ui/icons";
import { Outcome } from "../../ui/Outcome";
import { Untrusted } from "../../ui/Untrusted";
import classes from "./reviews.module.css";

interface ItemRowProps {
  item: Schemas["ReviewItem"];
  reviewer: string;
  isCurrent: boolean;
  isOpen: boolean;
  note: string;
  onNote: (note: string) => void;
  onFocus: () => void;
  onAnswer: (passed: boolean) => void;
  onLeave: () => void;
}

/** One item: its text, the answers so far, and the buttons to answer it. */
export function ItemRow(props: ItemRowProps) {
  const { item, reviewer, isCurrent, isOpen, note, onNote, onFocus, onAnswer, onLeave } = props;
  const standing = item.answers.filter((one) => one.is_standing);
  const own = standing.find((one) => one.reviewer === reviewer);
  return (
    <li
      className={classes.item}
      data-current={isCurrent && isOpen ? true : undefined}
      aria-current={isCurrent && isOpen ? "step" : undefined}
      onFocus={onFocus}
    >
      <Text fw={600}>
        <Untrusted text={item.text} />
      </Text>
      {standing.length > 0 && (
        <ul className={classes.answers}>
          {standing.map((one) => (
            <li key={one.reviewer}>
              <Outcome passed={one.passed} />{" "}
              <Text span size="sm">
                <Untrusted text={one.reviewer} />
                {one.note && (
                  <>
                    {": "}
                    <Untrusted text={one.note} />
                  </>
                )}
              </Text>
            </li>
          ))}
        </ul>
      )}
      {isOpen && (
        <Group gap="xs" mt="xs" align="center">
          <Button
            size="compact-md"
            variant={own?.passed === true ? "filled" : "default"}
            leftSection={<Check />}
            aria-pressed={own?.passed === true}
            aria-label={`Pass: ${item.text}`}
            data-pass
            onClick={() => onAnswer(true)}
          >
            Pass
          </Button>
          <Button
            size="compact-md"
            variant={own?.passed === false ? "filled" : "default"}
            leftSection={<Cross />}
            aria-pressed={own?.passed === false}
            aria-label={`Fail: ${item.text}`}
            onClick={() => onAnswer(false)}
          >
            Fail
          </Button>
          <TextInput
            size="xs"
            placeholder="Note"
            aria-label={`Note to: ${item.text}`}
            data-note
            maxLength={10_000}
            value={note}
            className={classes.note}
            onChange={(event) => onNote(event.currentTarget.value)}
            onKeyDown={(event) => {
              // Leave the note; an answer given before is sent again with the note.
              if (event.key !== "Enter" && event.key !== "Escape") return;
              event.preventDefault();
              if (event.key === "Enter" && own) onAnswer(own.passed);
              else onLeave();
            }}
          />
        </Group>
      )}
    </li>
  );
}
