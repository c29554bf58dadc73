import { Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Untrusted } from "../../ui/Untrusted";
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
        Number(task.bond) ? `, bond of ${money(task.bond)} to ${textOf(data.bondTo)}` : ""
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
    default:
      return "";
  }
}

function textOf(value: unknown): string {
  return value == null ? "–" : String(value);
}
