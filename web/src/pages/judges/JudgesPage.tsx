import { Text } from "@mantine/core";
import { useJudges } from "../../api/judges";
import { EmptyNote } from "../../ui/EmptyNote";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { JudgeCard } from "./JudgeCard";

/** The model judges, and how reliable they are. */
export default function JudgesPage() {
  const judges = useJudges();
  return (
    <Page
      title="Judges"
      lead="Models that score answers by criteria. Their agreement with people, and with themselves, is measured."
    >
      {judges.isPending && <Loading what="the judges" rows={2} height={160} />}
      {judges.error && <ProblemNote error={judges.error} onRetry={() => judges.refetch()} />}
      {judges.data?.judges.length === 0 && (
        <EmptyNote title="No judge is configured">
          <Text>
            Tests with criteria need a model to judge them. Any OpenAI-compatible endpoint works:
            set <code>ARENA_JUDGE_BASE_URL</code> and <code>ARENA_JUDGE_MODELS</code>, then
            calibrate it with <code>arena judge calibrate</code>.
          </Text>
        </EmptyNote>
      )}
      {judges.data?.judges.map((judge) => (
        <JudgeCard key={judge.id} judge={judge} />
      ))}
    </Page>
  );
}
