import { Alert, Button, Text } from "@mantine/core";
import { useState } from "react";
import type { PendingMove as Pending } from "../../api/market";
import { Hash } from "../../ui/Hash";
import { Clock } from "../../ui/icons";
import { ProblemNote } from "../../ui/ProblemNote";

/** A move that was sent to the chain and is not final yet. */
export function PendingMove({ pending }: { pending: Pending }) {
  const [isAsking, setAsking] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);
  const ask = async () => {
    setAsking(true);
    setFailed(null);
    try {
      await pending.ask();
    } catch (thrown) {
      setFailed(thrown);
    } finally {
      setAsking(false);
    }
  };
  const { transaction_hash } = pending.receipt;
  return (
    <Alert role="status" icon={<Clock />} title="The move is pending">
      <Text size="sm">
        It was sent to the chain and is not final yet. The task changes here as soon as it is. A
        move that failed is sent again when you check it.
      </Text>
      {transaction_hash && (
        <Text size="sm" component="div" mt={4}>
          Transaction: <Hash isCut what="transaction of the move" text={transaction_hash} />
        </Text>
      )}
      <Button size="compact-sm" variant="default" mt="sm" loading={isAsking} onClick={ask}>
        Check the move
      </Button>
      {failed !== null && <ProblemNote error={failed} />}
    </Alert>
  );
}
