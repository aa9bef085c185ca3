import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, Output, stepCountIs, streamText, tool } from 'ai';
import t from 'tap';
import { z } from 'zod';
import { asks } from '../../service/models.ts';
import { countRuns, startChat } from '../../service/openai/chat.ts';
import type { Troupe } from '../../service/troupe.ts';

/** The OpenAI-compatible provider of the AI SDK. */

const providerOf = ({ url }: Troupe) =>
  createOpenAICompatible({
    name: 'troupe',
    baseURL: `${url}/v1`,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });

const pick = tool({
  description: 'Lets the user pick a color.',
  inputSchema: z.object({ color: z.string() }),
  execute: async ({ color }) => `picked ${color}`,
});

t.test('generates and streams text with its usage', async (t) => {
  const { troupe } = await startChat(t);
  const model = providerOf(troupe)('echo');
  const generated = await generateText({ model, prompt: 'hi' });
  t.equal(generated.text, 'echo: hi');
  t.match(generated.usage, { inputTokens: 10, outputTokens: 20 });
  const streamed = streamText({ model, prompt: 'hi' });
  t.equal(await streamed.text, 'echo: hi');
  t.match(await streamed.usage, { inputTokens: 10, outputTokens: 20 });
  t.equal(await streamed.finishReason, 'stop');
});

t.test('executes tools over two steps of one run', async (t) => {
  const { troupe } = await startChat(t);
  troupe.models.steps.push(asks(['c1', 'pick', { color: 'red' }]));
  const model = providerOf(troupe)('steps');
  const { text, steps } = await generateText({
    model,
    prompt: 'Which color?',
    tools: { pick },
    stopWhen: stepCountIs(3),
  });
  t.equal(steps.length, 2);
  t.equal(text, 'echo: Which color?');
  t.equal(await countRuns(troupe), 1);
});

t.test('parses a structured result', async (t) => {
  const { troupe } = await startChat(t);
  troupe.models.steps.push((sink) => {
    sink.text('{"color":"red"}');
    return { stop: 'EndTurn' };
  });
  const { output } = await generateText({
    model: providerOf(troupe)('steps'),
    prompt: 'Which color?',
    output: Output.object({ schema: z.object({ color: z.string() }) }),
  });
  t.strictSame(output, { color: 'red' });
});
