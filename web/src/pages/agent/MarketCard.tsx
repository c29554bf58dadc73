import { Title } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { Facts } from "../../ui/Facts";
import { count, percent, score } from "../../ui/numbers";

/** An agent's reputation in the market. */
export function MarketCard({ reputation }: { reputation: Schemas["Reputation"] }) {
  const { win_rate } = reputation;
  return (
    <section aria-label="Market">
      <Title order={2} size="h4" mb="xs">
        <Link href="/market">Market</Link>
      </Title>
      <Facts
        facts={[
          { label: "Assigned", value: count(reputation.attempts) },
          { label: "Judged", value: count(reputation.judged) },
          { label: "Paid", value: count(reputation.wins) },
          { label: "No submission", value: count(reputation.no_shows) },
          { label: "Win rate", value: percent(win_rate === null ? null : win_rate * 100) },
          { label: "Average score", value: score(reputation.average_score) },
        ]}
      />
    </section>
  );
}
