import { Paper, Text, TextInput, Title } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { Link } from "wouter";
import { useReview } from "../../api/reviews";
import { BackLink } from "../../ui/BackLink";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { Untrusted } from "../../ui/Untrusted";
import { UntrustedBlock } from "../../ui/UntrustedBlock";
import { When } from "../../ui/When";
import { AgreementCard } from "./AgreementCard";
import { Checklist } from "./Checklist";
import { subjectHref } from "./QueueView";

/** One submission to judge: what was asked, what was handed in, and the items to answer. */
export function ReviewView({ reviewId }: { reviewId: string }) {
  const { data, error, refetch } = useReview(reviewId);
  const [name, setName] = useLocalStorage({ key: "arena.user", defaultValue: "" });
  const back = <BackLink href="/reviews">The queue</BackLink>;
  if (!data)
    return (
      <Page title="Review" before={back}>
        {error ? <ProblemNote error={error} onRetry={refetch} /> : <Loading what="the review" />}
      </Page>
    );
  const { review } = data;
  return (
    <Page
      title={review.title}
      tabTitle="Review"
      before={back}
      lead={
        <>
          {review.status} · <Link href={subjectHref(review.subject)}>{review.subject.kind}</Link>{" "}
          <Untrusted text={review.subject.part} /> · {review.answered_count} of {review.item_count}{" "}
          items answered by {review.reviewers_needed}{" "}
          {review.reviewers_needed === 1 ? "reviewer" : "reviewers"}
          {review.reviewers_needed > 1 && `, ${review.rule}`}
          {review.due_at && (
            <>
              {" "}
              · answers count before <When at={review.due_at} />
            </>
          )}
        </>
      }
    >
      {review.trouble && (
        <Text role="alert">
          {review.status === "cancelled" ? "There is no verdict" : "There is no verdict yet"}:{" "}
          <Untrusted text={review.trouble} />
        </Text>
      )}
      <section aria-label="Asked">
        <Title order={2} size="h4" mb="xs">
          Asked
        </Title>
        <UntrustedBlock label="Prompt" text={data.prompt} />
      </section>
      <section aria-label="Handed in">
        <Title order={2} size="h4" mb="xs">
          Handed in
        </Title>
        <UntrustedBlock label="Submission" text={data.submission} />
        {data.truncated && (
          <Text size="sm" c="dimmed">
            The agent said more than was kept.
          </Text>
        )}
      </section>
      <Paper withBorder p="lg" component="section" aria-label="Checklist">
        <Title order={2} size="h4" mb="sm">
          Checklist
        </Title>
        <TextInput
          label="Your name"
          description="A second answer under the same name takes the first one's place."
          placeholder="anonymous"
          maxLength={100}
          maw={320}
          mb="md"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Checklist details={data} reviewer={name.trim() || "anonymous"} />
      </Paper>
      <AgreementCard agreement={data.agreement} />
    </Page>
  );
}
