import { Button, Group, Modal, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { type FormEvent, useState } from "react";
import { useRate } from "../../api/queries";
import { amount } from "../../ui/numbers";
import { ProblemNote } from "../../ui/ProblemNote";
import { StarsInput } from "../../ui/StarsInput";
import { Untrusted } from "../../ui/Untrusted";

interface RateDialogProps {
  agentId: string;
  version: string;
  name: string;
  opened: boolean;
  onClose: () => void;
}

/** Rates an agent: stars, and an optional comment. */
export function RateDialog({ agentId, version, name, opened, onClose }: RateDialogProps) {
  const rate = useRate();
  const [stars, setStars] = useState(0);
  const [comment, setComment] = useState("");
  const [user, setUser] = useLocalStorage({ key: "arena.user", defaultValue: "" });

  const close = () => {
    onClose();
    setStars(0);
    setComment("");
    rate.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rate.mutate({
      agent_id: agentId,
      version,
      rating: stars,
      comment: comment.trim() || null,
      user_id: user.trim() || "anonymous",
    });
  };
  return (
    <Modal opened={opened} onClose={close} title={<Untrusted text={`Rate ${name} ${version}`} />}>
      {rate.isSuccess ? (
        <Stack>
          <Text role="status">Thank you. Your rating of {amount(stars, "star")} is saved.</Text>
          <Group justify="flex-end">
            <Button onClick={close} data-autofocus>
              Done
            </Button>
          </Group>
        </Stack>
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <StarsInput label="How good was its work?" value={stars} onChange={setStars} />
            <Textarea
              label="Comment"
              description="Optional: what was good, what was not?"
              autosize
              minRows={3}
              maxRows={8}
              maxLength={10_000}
              value={comment}
              onChange={(event) => setComment(event.currentTarget.value)}
            />
            <TextInput
              label="Your name"
              description="A later rating under the same name replaces this one."
              placeholder="anonymous"
              maxLength={100}
              value={user}
              onChange={(event) => setUser(event.currentTarget.value)}
            />
            {rate.error && <ProblemNote error={rate.error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Skip
              </Button>
              <Button type="submit" disabled={stars === 0} loading={rate.isPending}>
                Submit
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
