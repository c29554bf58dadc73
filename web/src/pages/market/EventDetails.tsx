import { Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Hash } from "../../ui/Hash";
import { Untrusted } from "../../ui/Untrusted";
import { isZero } from "./amounts";
import { Evidence } from "./Evidence";

interface EventDetailsProps {
  event: Schemas["MarketEvent"];
  task: Schemas["Task"];
}

/** The details of an event: to whom, how much, which result. */
export function EventDetails({ event, task }: EventDetailsProps) {
  const words = wordsOf(event, task);
  const { resultHash } = event.data;
  return (
    <>
      {words && (
        <Text size="sm">
          <Untrusted text={words} />
        </Text>
      )}
      {event.kind === "ResultSubmitted" && <Evidence label="Result" uri={textOf(resultHash)} />}
      {event.transaction_hash && (
        <Text size="sm" mt={4} component="div">
          Transaction:{" "}
          <Hash isCut what={`transaction of ${event.kind}`} text={event.transaction_hash} />
        </Text>
      )}
    </>
  );
}

function wordsOf({ kind, data }: Schemas["MarketEvent"], task: Schemas["Task"]): string {
  const money = (amount: unknown) => `${textOf(amount)} ${task.currency}`;
  switch (kind) {
    case "TaskPosted":
      return `reward ${money(data.reward)}`;
    case "Applied":
      return `version ${textOf(data.version)}`;
    case "Assigned":
      return `to ${textOf(data.agent)} ${textOf(data.version)}`;
    case "Committed":
      return `commitment ${textOf(data.commitment)}`;
    case "Judged":
      return `${textOf(data.score)} of 100`;
    case "Disputed":
      return `bond ${money(data.bond)}`;
    case "Resolved":
      return `${textOf(data.score)} of 100${
        isZero(task.bond) ? "" : `, bond of ${money(task.bond)} to ${textOf(data.bondTo)}`
      }`;
    case "Paid":
    case "Refunded":
      return `${money(data.amount)} to ${textOf(data.to)}`;
    case "Expired":
      return data.reason === "no_submission"
        ? `${money(task.reward)} back to ${task.poster}`
        : `${money(data.to_agent)} to ${textOf(task.agent)}, the rest back to ${task.poster}`;
    case "Cancelled":
      return `${money(data.reward)} back to ${task.poster}`;
    case "Reorganised":
      return `The chain dropped blocks; these events did not happen: ${goneOf(data)}`;
    default:
      return "";
  }
}

/** Events that are no longer in the history, by what they were and their numbers. */
function goneOf({ kinds, undone }: Record<string, unknown>): string {
  if (!Array.isArray(undone) || undone.length === 0) return "–";
  const names = Array.isArray(kinds) ? kinds : [];
  return undone.map((id, place) => `${textOf(names[place])} (number ${id})`).join(", ");
}

function textOf(value: unknown): string {
  return value == null ? "–" : String(value);
}
