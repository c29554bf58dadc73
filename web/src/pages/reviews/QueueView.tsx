import { Button, Group, Select, Table, Text } from "@mantine/core";
import { Link, useSearchParams } from "wouter";
import { type ReviewStatus, useReviews } from "../../api/reviews";
import { EmptyNote } from "../../ui/EmptyNote";
import { Loading } from "../../ui/Loading";
import { count } from "../../ui/numbers";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { Cell, Head, WideTable } from "../../ui/WideTable";

const STATUSES: ReviewStatus[] = ["open", "answered", "done", "cancelled"];

/** The reviews, the longest waiting first. */
export function QueueView() {
  const [search, setSearch] = useSearchParams();
  const status = STATUSES.find((one) => one === search.get("status")) ?? "open";
  const reviews = useReviews(status);
  const rows = reviews.data?.pages.flatMap((page) => page.reviews) ?? [];
  return (
    <Page
      title="Reviews"
      lead="Checklists that people answer. The last answer makes the verdict, and a run that waits for it continues."
    >
      <Group>
        <Select
          label="Status"
          allowDeselect={false}
          data={STATUSES.map(String)}
          value={status}
          onChange={(value) => setSearch(!value || value === "open" ? {} : { status: value })}
        />
      </Group>
      {reviews.isPending && <Loading what="the reviews" />}
      {reviews.error && <ProblemNote error={reviews.error} onRetry={() => reviews.refetch()} />}
      {reviews.data && rows.length === 0 && (
        <EmptyNote title={status === "open" ? "No open reviews" : `No reviews are ${status}`}>
          {status === "open"
            ? "A test with a checklist, or a task judged by one, appears here once an agent has answered it."
            : "No review of your team has this status."}
        </EmptyNote>
      )}
      {rows.length > 0 && (
        <WideTable isCards label="Reviews" minWidth={640}>
          <Head>
            <Table.Th role="columnheader">Submission</Table.Th>
            <Table.Th role="columnheader">Run or task</Table.Th>
            <Table.Th role="columnheader" ta="right">
              Items answered
            </Table.Th>
            <Table.Th role="columnheader" ta="right">
              Reviewers
            </Table.Th>
            <Table.Th role="columnheader">Waiting since</Table.Th>
          </Head>
          <Table.Tbody role="rowgroup">
            {rows.map((review) => (
              <Table.Tr role="row" key={review.id}>
                <Cell place="title">
                  <Link href={`/reviews/${review.id}`}>
                    <Untrusted text={review.title} />
                  </Link>
                  {review.trouble && (
                    <Text size="xs" c="dimmed">
                      <Untrusted text={review.trouble} />
                    </Text>
                  )}
                </Cell>
                <Cell label="Run or task">
                  <Link href={subjectHref(review.subject)}>{review.subject.kind}</Link>{" "}
                  <Text span size="sm" c="dimmed">
                    <Untrusted text={review.subject.part} />
                  </Text>
                </Cell>
                <Cell place="score" ta="right">
                  {count(review.answered_count)} of {count(review.item_count)}
                </Cell>
                <Cell label="Reviewers" ta="right">
                  {count(review.reviewers_needed)}
                </Cell>
                <Cell label="Waiting since">
                  <When at={review.created_at} />
                </Cell>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </WideTable>
      )}
      {reviews.hasNextPage && (
        <Group justify="center">
          <Button
            variant="default"
            loading={reviews.isFetchingNextPage}
            onClick={() => reviews.fetchNextPage()}
          >
            Show more
          </Button>
        </Group>
      )}
    </Page>
  );
}

/** The page of the reviewed run or task. */
export function subjectHref(subject: { kind: "run" | "task"; id: string }): string {
  return subject.kind === "run" ? `/runs/${subject.id}` : `/market/tasks/${subject.id}`;
}
