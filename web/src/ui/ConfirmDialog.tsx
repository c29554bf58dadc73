import { Button, Group, Modal, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { ProblemNote } from "./ProblemNote";

export interface Confirmation {
  question: string;
  /** What confirming does. */
  children: ReactNode;
  confirm: string;
  refuse: string;
  onConfirm: () => Promise<unknown>;
}

interface ConfirmDialogProps extends Confirmation {
  opened: boolean;
  onClose: () => void;
}

/** The question before an irreversible action; focus starts on the button that changes nothing. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { question, children, confirm, refuse, onConfirm, opened, onClose } = props;
  const [isDoing, setDoing] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);
  const close = () => {
    onClose();
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
    <Modal opened={opened} onClose={close} title={question}>
      <Text component="div">{children}</Text>
      {failed !== null && <ProblemNote error={failed} />}
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={close} data-autofocus>
          {refuse}
        </Button>
        <Button color="red.9" loading={isDoing} onClick={act}>
          {confirm}
        </Button>
      </Group>
    </Modal>
  );
}
