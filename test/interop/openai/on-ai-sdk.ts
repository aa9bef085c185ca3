import type { createOpenAI } from '@ai-sdk/openai';
import type { ModelMessage } from 'ai';
import type { Test } from 'tap';
import { z } from 'zod';
import { giveAnswer } from '../../../src/models/scripted-answer.ts';
import { asks, type Inference } from '../../service/models.ts';
import { countRuns, messagesOf, startChat } from '../../service/openai/chat.ts';

const says =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    return { stop: 'EndTurn' };
  };

/**
 * The tests of one version of the AI SDK and of its provider for OpenAI, which uses responses unless a model is made for
 * chat completions.
 */
export const testAiSdk = async (
  t: Test,
  packages: { createOpenAI: typeof createOpenAI; ai: typeof import('ai') },
): Promise<void> => {
  const { generateText, Output, stepCountIs, streamText, tool } = packages.ai;
  const { troupe, tools } = await startChat(t);
  const model = packages.createOpenAI({ baseURL: `${troupe.url}/v1`, apiKey: 'unused' });

  const pick = tool({
    description: 'Lets the user pick a color.',
    inputSchema: z.object({ color: z.string() }),
    execute: async ({ color }) => `picked ${color}`,
  });

  t.test('generates and streams text with its usage', async (t) => {
    const generated = await generateText({ model: model('echo'), prompt: 'hi' });
    t.equal(generated.text, 'echo: hi');
    t.match(generated.usage, { inputTokens: 10, outputTokens: 20 });
    const streamed = streamText({ model: model('echo'), prompt: 'hi' });
    t.equal(await streamed.text, 'echo: hi');
    t.match(await streamed.usage, { inputTokens: 10, outputTokens: 20 });
    t.equal(await streamed.finishReason, 'stop');
  });

  for (const [name, call] of Object.entries({ generateText, streamText })) {
    t.test(`sends the history of later steps of ${name} , and the run continues (check 48)`, async (t) => {
      const runs = await countRuns(troupe);
      troupe.models.steps.push(
        asks(['c1', 'pick', { color: 'red' }]),
        asks(['c2', 'pick', { color: 'blue' }]),
      );
      const bodies: { input: { type: string }[] }[] = [];
      const result = call({
        model: model('steps'),
        prompt: 'Which color?',
        tools: { pick },
        stopWhen: stepCountIs(3),
        onStepFinish: ({ request }) => void bodies.push(request.body as (typeof bodies)[number]),
      });
      const { text, steps } = await result;
      t.equal((await steps).length, 3);
      t.equal(await text, 'echo: Which color?');
      t.notMatch(JSON.stringify(bodies), /previous_response_id/);
      t.equal(await countRuns(troupe), runs + 1, 'the same run continued');
    });
  }

  t.test('continues the thread with the history of an earlier answer (check 48)', async (t) => {
    const messages: ModelMessage[] = [{ role: 'user', content: 'first' }];
    const first = await generateText({ model: model('echo'), messages });
    messages.push(...first.response.messages, { role: 'user', content: 'second' });
    const second = await generateText({ model: model('echo'), messages });
    t.equal(second.text, 'echo: second');
    const [one, two] = [first, second].map(({ response }) => response.headers?.['x-troupe-thread-id']);
    t.equal(two, one);
    t.equal((await messagesOf(troupe, String(one))).length, 4, 'each message is stored once');
  });

  t.test('parses a structured result (check 60)', async (t) => {
    troupe.models.steps.push(says('{"color":"red"}'));
    const { output } = await generateText({
      model: model('steps'),
      prompt: 'Which color?',
      output: Output.object({ schema: z.object({ color: z.string() }) }),
    });
    t.strictSame(output, { color: 'red' });
  });

  t.test('shows the reasoning of the model (check 44)', async (t) => {
    troupe.models.steps.push((sink) => giveAnswer({ reasoning: ['It is', ' red.'], text: 'red' }, sink));
    const { reasoningText, text } = await generateText({ model: model('steps'), prompt: 'Which color?' });
    t.strictSame([reasoningText, text], ['It is red.', 'red']);
    troupe.models.steps.push((sink) => giveAnswer({ reasoning: ['It is', ' red.'], text: 'red' }, sink));
    const streamed = streamText({ model: model('steps'), prompt: 'Which color?' });
    t.strictSame([await streamed.reasoningText, await streamed.text], ['It is red.', 'red']);
  });

  t.test('shows a call of the agent with its result (check 42)', async (t) => {
    troupe.models.steps.push(asks(['c1', 'note']), says('done'));
    const { content, text } = await generateText({ model: model('steps'), prompt: 'Note it.' });
    t.equal(text, 'done');
    t.match(
      content.filter(({ type }) => type !== 'text'),
      [
        { type: 'tool-call', toolName: 'mcp.note', providerExecuted: true },
        { type: 'tool-result', toolName: 'mcp.note', output: { output: '"did c1"' } },
      ],
    );
  });

  for (const approved of [true, false]) {
    t.test(`${approved ? 'approves' : 'denies'} a call of the agent (check 46)`, async (t) => {
      const before = tools.executed.length;
      troupe.models.steps.push(asks(['c1', 'risky']), says('done'));
      const messages: ModelMessage[] = [{ role: 'user', content: 'Risk it.' }];
      const asked = await generateText({ model: model('steps'), messages });
      const request = asked.content.find((part) => part.type === 'tool-approval-request');
      t.match(request, { toolCall: { toolName: 'mcp.risky' } });
      messages.push(...asked.response.messages, {
        role: 'tool',
        content: [
          {
            type: 'tool-approval-response',
            approvalId: request?.approvalId ?? '',
            approved,
            // The SDK drops approvals of calls that it would execute itself.
            providerExecuted: true,
          },
        ],
      });
      const runs = await countRuns(troupe);
      const { text, content } = await generateText({ model: model('steps'), messages });
      t.equal(text, 'done');
      t.equal(tools.executed.length, before + (approved ? 1 : 0));
      t.equal(await countRuns(troupe), runs, 'the same run continued');
      const result = { type: 'tool-result', toolName: 'mcp.risky' };
      if (approved) t.match(content, [{ type: 'tool-call' }, result, { type: 'text' }]);
    });
  }
  t.test('calls functions over several steps of chat completions', async (t) => {
    for (const call of [generateText, streamText]) {
      troupe.models.steps.push(asks(['c1', 'pick', { color: 'red' }]));
      const runs = await countRuns(troupe);
      const result = call({
        model: model.chat('steps'),
        prompt: 'Which color?',
        tools: { pick },
        stopWhen: stepCountIs(3),
      });
      const { text, steps } = await result;
      t.equal(await text, 'echo: Which color?');
      t.equal((await steps).length, 2);
      t.equal(await countRuns(troupe), runs + 1, 'the same run continued');
    }
  });
};
