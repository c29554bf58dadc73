import { Paper, Stack, Text, Title } from "@mantine/core";
import { useEffect, useRef } from "react";
import type { Schemas } from "../../api/queries";
import { Stars } from "../../ui/Stars";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";

interface FeedbackListProps {
  feedback?: Schemas["Feedback"][];
  /** Whether its file is here, so that it can be rated. */
  isHere: boolean;
}

/** The ratings of an agent, newest first. */
export function FeedbackList({ feedback, isHere }: FeedbackListProps) {
  const section = useRef<HTMLElement>(null);
  const isThere = feedback !== undefined;
  useEffect(() => {
    // The leaderboard's stars lead here.
    if (isThere && window.location.hash === "#feedback") section.current?.scrollIntoView();
  }, [isThere]);
  if (!feedback) return null;
  return (
    <section aria-label="Ratings" ref={section}>
      <Title order={2} size="h4" mb="xs">
        Ratings
      </Title>
      {feedback.length === 0 && (
        <Text c="dimmed">
          No ratings yet{isHere ? ". Press Rate at the top of the page." : "."}
        </Text>
      )}
      <Stack gap="sm">
        {feedback.map((vote) => (
          <Paper key={vote.id} withBorder p="md" component="article">
            <Text size="sm" component="div">
              <Stars value={vote.rating} />
              <Text span size="sm" c="dimmed" ml="sm">
                <Untrusted text={vote.user_id} /> on <Untrusted text={vote.agent_version} />,{" "}
                <When at={vote.created_at} />
              </Text>
            </Text>
            {vote.comment && (
              <Text mt="xs">
                <Untrusted text={vote.comment} />
              </Text>
            )}
          </Paper>
        ))}
      </Stack>
    </section>
  );
}
