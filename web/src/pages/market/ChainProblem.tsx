import { Alert, Text } from "@mantine/core";
import { useMarket } from "../../api/market";
import { Warning } from "../../ui/icons";
import { Untrusted } from "../../ui/Untrusted";

/** Says that tasks on the chain may have changed since they were read. */
export function ChainProblem() {
  const { data: market } = useMarket();
  if (!market?.problem) return null;
  return (
    <Alert role="status" color="yellow" icon={<Warning />} title="The chain cannot be read now">
      <Text size="sm">
        Tasks on the chain are shown as they were when it was last read. Reason:{" "}
        <Untrusted text={market.problem} />
      </Text>
    </Alert>
  );
}
