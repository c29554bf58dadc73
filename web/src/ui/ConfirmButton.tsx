import { Button, Group, Modal, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { ProblemNote } from "./ProblemNote";

interface ConfirmButtonProps {
  /** What the button says. */
  label: string;
  question: string;
  /** What will be so afterwards, and cannot be undone. */
  children: ReactNode;
  confirm: string;
  refuse: string;
  onConfirm: () => Promise<unknown>;
}

/** Asks before it does what cannot be undone. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { label, question, children, confirm, refuse, onConfirm } = props;
  const [isAsking, setAsking] = useState(false);
  const [isDoing, setDoing] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);
  const close = () => {
    setAsking(false);
    setFailed(null);
  };
  const act = async () => {
    setDoing(true);
    try {
      await onConfirm();
      close();
    } catch (thrown) {
      setFailed(thrown);
    } finally {
      setDoing(false);
    }
  };
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        {label}
      </Button>
      <Modal opened={isAsking} onClose={close} title={question}>
        <Text component="div">{children}</Text>
        {failed !== null && <ProblemNote error={failed} />}
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={close} data-autofocus>
            {refuse}
          </Button>
          <Button color="red" loading={isDoing} onClick={act}>
            {confirm}
          </Button>
        </Group>
      </Modal>
    </>
  );
}
