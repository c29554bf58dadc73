import { Paper, Text, TextInput, Title } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { Link } from "wouter";
import { useReview } from "../../api/reviews";
import { BackLink } from "../../ui/BackLink";
import { Conversation } from "../../ui/Conversation";
import { CutNote } from "../../ui/CutNote";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { StandardDocument } from "../../ui/standard/StandardView";
import { Untrusted } from "../../ui/Untrusted";
import { UntrustedBlock } from "../../ui/UntrustedBlock";
import { When } from "../../ui/When";
import { AgreementCard } from "./AgreementCard";
import { Checklist } from "./Checklist";
import { subjectHref } from "./QueueView";

/** One submission to judge: the prompt, the submission, and the items to answer. */
export function ReviewView({ reviewId }: { reviewId: string }) {
  const { data, error, refetch } = useReview(reviewId);
  const [name, setName] = useLocalStorage({ key: "arena.user", defaultValue: "" });
  const back = <BackLink href="/reviews">All reviews</BackLink>;
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
              · answer before <When at={review.due_at} />
            </>
          )}
        </>
      }
    >
      {review.trouble && (
        <Text role="alert">
          {review.status === "cancelled" ? "No verdict" : "No verdict yet"}:{" "}
          <Untrusted text={review.trouble} />
        </Text>
      )}
      {data.messages?.length ? (
        <section>
          <Title order={2} size="h4" mb="xs">
            Conversation
          </Title>
          <Conversation messages={data.messages} steps={data.steps} />
        </section>
      ) : (
        <>
          <section>
            <Title order={2} size="h4" mb="xs">
              Prompt
            </Title>
            <UntrustedBlock label="Prompt" text={data.prompt} />
          </section>
          <section>
            <Title order={2} size="h4" mb="xs">
              Submission
            </Title>
            <UntrustedBlock label="Submission" text={data.submission} />
          </section>
        </>
      )}
      {data.truncated && <CutNote />}
      {data.standard?.type !== "checklist" && (
        <Paper withBorder p="lg" component="section" aria-label="Standard">
          <Title order={2} size="h4" mb="xs">
            Standard
          </Title>
          <StandardDocument document={data.standard ?? {}} />
        </Paper>
      )}
      <Paper withBorder p="lg" component="section" aria-label="Checklist">
        <Title order={2} size="h4" mb="sm">
          Checklist
        </Title>
        <TextInput
          label="Your name"
          description="A later answer under the same name replaces the earlier one."
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
