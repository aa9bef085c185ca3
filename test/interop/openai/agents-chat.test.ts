import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import t from 'tap';
import { z } from 'zod';
import { asks } from '../../service/models.ts';
import { countRuns, startChat } from '../../service/openai/chat.ts';
import type { Troupe } from '../../service/troupe.ts';

/** The OpenAI Agents SDK over chat completions. */

setTracingDisabled(true);

/** The SDK listens to the process from its import on. */
t.teardown(() => {
  const added = process.listeners('unhandledRejection').at(-1);
  if (added) process.off('unhandledRejection', added);
});

const modelOf = ({ url }: Troupe, model: string) =>
  new OpenAIChatCompletionsModel(new OpenAI({ baseURL: `${url}/v1`, apiKey: 'unused' }), model);

const pick = tool({
  name: 'pick',
  description: 'Lets the user pick a color.',
  parameters: z.object({ color: z.string() }),
  execute: async ({ color }) => `picked ${color}`,
});

t.test('runs an agent, and streams one', async (t) => {
  const { troupe } = await startChat(t);
  const agent = new Agent({ name: 'caller', instructions: 'Be brief.', model: modelOf(troupe, 'echo') });
  const result = await run(agent, 'hi');
  t.equal(result.finalOutput, 'echo: hi');
  const streamed = await run(agent, 'hi', { stream: true });
  let text = '';
  for await (const part of streamed.toTextStream()) text += part;
  t.equal(text, 'echo: hi');
  await streamed.completed;
});

t.test('executes a function tool, and the waiting run continues', async (t) => {
  const { troupe } = await startChat(t);
  troupe.models.steps.push(asks(['c1', 'pick', { color: 'red' }]));
  const agent = new Agent({ name: 'caller', model: modelOf(troupe, 'steps'), tools: [pick] });
  const result = await run(agent, 'Which color?');
  t.equal(result.finalOutput, 'echo: Which color?');
  t.equal(await countRuns(troupe), 1);
});
