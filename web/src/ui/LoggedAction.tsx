import { Button, Group, Modal, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { type FormEvent, type ReactNode, useState } from "react";
import { ProblemNote } from "./ProblemNote";

/** Who acts if nobody gives a name. */
const NOBODY = "dashboard";

interface LoggedActionProps {
  /** The text of the button. */
  action: string;
  question: string;
  /** What confirming does. */
  children: ReactNode;
  confirm: string;
  /** Whether a reason is asked for. */
  hasReason?: boolean;
  onConfirm: (by: string, reason: string) => Promise<unknown>;
}

/** A button for an action that the history keeps: it asks who acts and, if wanted, why. */
export function LoggedAction(props: LoggedActionProps) {
  const { action, question, children, confirm, hasReason = false, onConfirm } = props;
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const [user, setUser] = useLocalStorage({ key: "arena.user", defaultValue: "" });
  const [isDoing, setDoing] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);
  const close = () => {
    setOpen(false);
    setReason("");
    setFailed(null);
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setDoing(true);
    try {
      await onConfirm(user.trim() || NOBODY, reason.trim());
      close();
    } catch (thrown) {
      setFailed(thrown);
    } finally {
      setDoing(false);
    }
  };
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        {action}
      </Button>
      <Modal opened={isOpen} onClose={close} title={question}>
        <form onSubmit={submit}>
          <Stack>
            <Text component="div">{children}</Text>
            {hasReason && (
              <Textarea
                label="Reason"
                required
                autosize
                minRows={2}
                maxRows={6}
                maxLength={1000}
                value={reason}
                onChange={(event) => setReason(event.currentTarget.value)}
              />
            )}
            <TextInput
              label="Your name"
              description="Kept in the history."
              placeholder={NOBODY}
              maxLength={100}
              value={user}
              onChange={(event) => setUser(event.currentTarget.value)}
            />
            {failed !== null && <ProblemNote error={failed} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button type="submit" loading={isDoing} disabled={hasReason && !reason.trim()}>
                {confirm}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}
