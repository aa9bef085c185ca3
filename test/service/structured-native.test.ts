import t, { type Test } from 'tap';
import { z } from 'zod';
import {
  createTroupe,
  defineProvider,
  defineTool,
  type InferenceRequest,
  type Troupe,
} from '../../src/index.ts';
import { HTTP_SERVER } from '../http/listener.ts';

/** Structured results in a dedicated field of a provider: structured-results.md, check 9. */

const SCHEMA = {
  type: 'object',
  properties: { n: { type: 'number' } },
  required: ['n'],
  additionalProperties: false,
};

type Support = 'with_tools' | 'alone' | undefined;

const start = async (
  t: Test,
  support: Record<string, Support>,
  texts: readonly string[],
): Promise<{ troupe: Troupe; requests: InferenceRequest[] }> => {
  const requests: InferenceRequest[] = [];
  const providers = Object.entries(support).map(([id, structured]) =>
    defineProvider({
      id,
      ...(structured && { structured }),
      async stream(request, sink) {
        const text = texts[requests.length] ?? '';
        requests.push(request);
        const [result] = request.tools.filter((tool) => tool.id === 'final_answer');
        if (result) {
          sink.toolStart('f', result.id);
          sink.toolEnd('f', text);
          return { stop: 'ToolUse' };
        }
        for (const character of text) sink.text(character);
        return { stop: 'EndTurn' };
      },
    }),
  );
  const ids = Object.keys(support);
  const agent = { model_id: ids[0] ?? '', output_schema: SCHEMA };
  const troupe = await createTroupe({
    settings: { storage_dir: t.testdir(), http_server: HTTP_SERVER },
    listen: false,
    providers,
    models: ids.map((id) => ({ id, provider_id: id, upstream_model: id })),
    model_pools: [{ id: 'pool', members: ids.map((model_id) => ({ model_id })) }],
    tools: [
      defineTool({ id: 'look', description: 'Looks.', input: z.object({}), execute: () => ({ data: 1 }) }),
    ],
    agents: [
      { ...agent, id: 'bare', allowed_tools: [] },
      { ...agent, id: 'tooled', allowed_tools: ['look'] },
      { ...agent, id: 'pooled', model_id: 'pool', allowed_tools: [] },
      { ...agent, id: 'native', allowed_tools: ['look'], output_options: { mode: 'native' } },
    ],
    log: { write() {} },
  });
  t.teardown(() => troupe.stop());
  return { troupe, requests };
};

const messages = [{ role: 'user', content: 'Hi' }] as const;

t.test('streams text of a provider that enforces the schema, and resets it before a repair', async (t) => {
  const { troupe, requests } = await start(t, { m: 'with_tools' }, ['{"n":"x"}', '{"n":1}']);
  const run = troupe.runs.stream({ agentId: 'tooled', messages });
  const told: string[] = [];
  for await (const event of run) {
    if (event.event_type === 'text_delta') told.push(event.delta);
    if (event.event_type === 'stream_reset') told.push(`reset ${event.text}`);
  }
  t.strictSame(told, [...'{"n":"x"}', 'reset {"n":"x"}', ...'{"n":1}']);
  t.match(await run.end(), { text: '{"n":1}', structured_output: { n: 1 } });
  for (const request of requests) {
    t.strictSame(request.output, { name: 'answer', schema: SCHEMA, strict: true });
    t.strictSame(
      request.tools.map(({ id }) => id),
      ['look'],
    );
  }
});

t.test('uses native mode only without tools if the provider cannot combine both', async (t) => {
  const { troupe, requests } = await start(t, { m: 'alone' }, ['{"n":1}', '{"n":2}']);
  t.strictSame(await troupe.runs.stream({ agentId: 'bare', messages }).output(), { n: 1 });
  t.ok(requests[0]?.output);
  t.strictSame(await troupe.runs.stream({ agentId: 'tooled', messages }).output(), { n: 2 });
  t.notOk(requests[1]?.output);
  const { termination } = await troupe.runs.stream({ agentId: 'native', messages }).end();
  t.match(termination, { value: "output mode 'native' is not supported by model 'm'" });
});

t.test('requests a non-object result as a tool call', async (t) => {
  const { troupe, requests } = await start(t, { m: 'with_tools' }, ['{"result":[1]}']);
  const run = troupe.runs.stream({ agentId: 'bare', messages, output_schema: { type: 'array' } });
  t.strictSame(await run.output(), [1]);
  t.notOk(requests[0]?.output);
});

t.test('uses the native mode of a pool only if all members support it', async (t) => {
  const both = await start(t, { a: 'with_tools', b: 'alone' }, ['{"n":1}']);
  t.strictSame(await both.troupe.runs.stream({ agentId: 'pooled', messages }).output(), { n: 1 });
  t.ok(both.requests[0]?.output);
  await both.troupe.stop();
  const one = await start(t, { a: 'with_tools', b: undefined }, ['{"n":1}']);
  t.strictSame(await one.troupe.runs.stream({ agentId: 'pooled', messages }).output(), { n: 1 });
  t.notOk(one.requests[0]?.output, 'a member without native support would ignore the schema');
});
