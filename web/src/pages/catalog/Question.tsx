import { Paper, Stack, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { asText, inWords } from "../../ui/standard/reading";
import { PlainField } from "../../ui/standard/StandardView";
import { Untrusted } from "../../ui/Untrusted";
import { UntrustedBlock } from "../../ui/UntrustedBlock";

/** What the agent is asked: a prompt or a conversation, and what it gets to work with. */
export function Question({ test }: { test: Schemas["Test"] }) {
  const turns = test.turns ?? [];
  return (
    <>
      <section>
        <Title order={2} size="h4" mb="xs">
          {turns.length > 1 ? "Turns" : "Prompt"}
        </Title>
        <Stack gap="xs">
          {(turns.length ? turns : [test.input_prompt]).map((text, index) => (
            // Two turns may be equal, so the index is the key.
            <UntrustedBlock
              key={index}
              label={turns.length > 1 ? `Turn ${index + 1}` : "Prompt"}
              text={text}
            />
          ))}
        </Stack>
      </section>
      {test.user && <Card title="Simulated user" fields={test.user} />}
      {test.tools?.map(({ name, ...fields }, index) => (
        <Card key={index} title={`Tool ${asText(name)}`} fields={fields} />
      ))}
      {test.workspace && <Card title="Workspace" fields={test.workspace} />}
      {test.solution && <Card title="Solution" fields={test.solution} />}
    </>
  );
}

/** A part of a test as its file has it: key by key. */
function Card({ title, fields }: { title: string; fields: Record<string, unknown> }) {
  return (
    <Paper withBorder p="lg" component="section" aria-label={title}>
      <Title order={2} size="h4" mb="xs">
        <Untrusted text={title} />
      </Title>
      <Stack gap="xs">
        {Object.entries(fields).map(([name, value]) => (
          <PlainField key={name} name={inWords(name)} value={value} />
        ))}
      </Stack>
    </Paper>
  );
}
