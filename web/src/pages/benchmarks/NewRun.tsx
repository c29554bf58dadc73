import { Button, Group, Modal, NumberInput, Select, Stack } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { type Schemas, useBenchmark } from "../../api/queries";
import { Bolt } from "../../ui/icons";
import { ProblemNote } from "../../ui/ProblemNote";

/** The button and the form to start a run of any agent, in any version, with repeats. */
export function NewRun({ agents, suites }: { agents: Schemas["Agent"][]; suites: string[] }) {
  const benchmark = useBenchmark();
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const [agentId, setAgentId] = useState<string | null>(null);
  const [version, setVersion] = useState<string | null>(null);
  const [suite, setSuite] = useState<string | null>(null);
  const [trials, setTrials] = useState<number | string>("");
  const agent = agents.find((one) => one.id === agentId);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!agentId) return;
    benchmark.mutate(
      { agent_id: agentId, version, suite, trials: typeof trials === "number" ? trials : null },
      { onSuccess: (created) => navigate(`/runs/${created.run_id}`) },
    );
  };
  const close = () => {
    setOpen(false);
    benchmark.reset();
  };
  return (
    <>
      <Button leftSection={<Bolt />} onClick={() => setOpen(true)}>
        Run benchmark
      </Button>
      <Modal opened={isOpen} onClose={close} title="Run a benchmark">
        <form onSubmit={submit}>
          <Stack>
            <Select
              label="Agent"
              required
              data={agents.map((one) => one.id)}
              value={agentId}
              onChange={(value) => {
                setAgentId(value);
                setVersion(null);
              }}
            />
            <Select
              label="Version"
              placeholder="Latest"
              clearable
              clearButtonProps={{ "aria-label": "Latest version" }}
              disabled={!agent}
              data={agent?.versions ?? []}
              value={version}
              onChange={setVersion}
            />
            {suites.length > 1 && (
              <Select
                label="Suite"
                placeholder="The one with tests for the agent"
                clearable
                clearButtonProps={{ "aria-label": "Any suite" }}
                data={suites}
                value={suite}
                onChange={setSuite}
              />
            )}
            <NumberInput
              label="Trials"
              description="How many times each test runs; repeats reveal flaky tests."
              placeholder="As set by each test"
              min={1}
              max={1000}
              allowDecimal={false}
              value={trials}
              onChange={setTrials}
            />
            {benchmark.error && <ProblemNote error={benchmark.error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button type="submit" disabled={!agentId} loading={benchmark.isPending}>
                Run
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}
