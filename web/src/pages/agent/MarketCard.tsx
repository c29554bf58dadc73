import { Title } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { Facts } from "../../ui/Facts";
import { count, percent, score } from "../../ui/numbers";

/** What judged work in the market says of an agent. */
export function MarketCard({ reputation }: { reputation: Schemas["Reputation"] }) {
  const { win_rate } = reputation;
  return (
    <section aria-label="In the market">
      <Title order={2} size="h4" mb="xs">
        In the <Link href="/market">market</Link>
      </Title>
      <Facts
        facts={[
          { label: "Assigned", value: count(reputation.attempts) },
          { label: "Judged", value: count(reputation.judged) },
          { label: "Paid", value: count(reputation.wins) },
          { label: "Handed nothing in", value: count(reputation.no_shows) },
          { label: "Won", value: percent(win_rate === null ? null : win_rate * 100) },
          { label: "Average score", value: score(reputation.average_score) },
        ]}
      />
    </section>
  );
}
