import { Text } from "@mantine/core";
import type { Schemas } from "../api/queries";
import classes from "./Conversation.module.css";
import { StepList } from "./StepList";
import { UntrustedBlock } from "./UntrustedBlock";
import { useFew } from "./useFew";

/** A conversation may have a hundred turns. */
const FIRST_MESSAGES = 40;

const SPEAKERS = { system: "System", user: "User", assistant: "Agent" } as const;

interface ConversationProps {
  messages: Schemas["Message"][];
  steps?: Schemas["Step"][] | null;
}

/** A conversation as one: who said what, in order, with the steps of each reply before it. */
export function Conversation({ messages, steps }: ConversationProps) {
  const numbered = withTurns(messages);
  const { shown, note } = useFew(numbered, FIRST_MESSAGES);
  return (
    <>
      <ol className={classes.messages}>
        {shown.map(({ message, turn }, index) => {
          const isReply = message.role === "assistant";
          const own = isReply ? (steps ?? []).filter((step) => (step.turn ?? 1) === turn) : [];
          const name = `${SPEAKERS[message.role]}, turn ${turn}`;
          return (
            // Two messages may be equal, so the index is the key.
            <li key={index} className={classes.message} data-role={message.role}>
              <Text size="sm" c="dimmed" mb={4}>
                {name}
              </Text>
              {own.length > 0 && (
                <details className={classes.steps}>
                  <summary>
                    {own.length} {own.length === 1 ? "step" : "steps"} before this reply
                  </summary>
                  <StepList steps={own} />
                </details>
              )}
              <UntrustedBlock label={name} text={message.content} />
            </li>
          );
        })}
      </ol>
      {note}
    </>
  );
}

/** Each message with its turn: a turn begins with what the user says. */
function withTurns(messages: Schemas["Message"][]) {
  let turn = 0;
  return messages.map((message) => {
    if (message.role === "user") turn += 1;
    return { message, turn: Math.max(turn, 1) };
  });
}
