import { Text } from "@mantine/core";
import { useJudges } from "../../api/judges";
import { EmptyNote } from "../../ui/EmptyNote";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { JudgeCard } from "./JudgeCard";

/** Who judges where a model has to, and how far that judge can be trusted. */
export default function JudgesPage() {
  const judges = useJudges();
  return (
    <Page
      title="Judges"
      lead="Models that score answers by criteria. How far one agrees with people, and with itself, is measured and not believed."
    >
      {judges.isPending && <Loading what="the judges" rows={2} height={160} />}
      {judges.error && <ProblemNote error={judges.error} onRetry={() => judges.refetch()} />}
      {judges.data?.judges.length === 0 && (
        <EmptyNote title="No judge is set up">
          <Text>
            Tests with criteria need a model to judge them. Any OpenAI-compatible endpoint will do:
            set <code>ARENA_JUDGE_BASE_URL</code> and <code>ARENA_JUDGE_MODELS</code>, then measure
            it with <code>arena judge calibrate</code>.
          </Text>
        </EmptyNote>
      )}
      {judges.data?.judges.map((judge) => (
        <JudgeCard key={judge.id} judge={judge} />
      ))}
    </Page>
  );
}
