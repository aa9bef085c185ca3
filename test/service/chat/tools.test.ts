import t from 'tap';
import { z } from 'zod';
import { entriesFrom } from '../../../src/settings/index.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { guarded } from '../agent-loop/permissions.ts';
import { asks } from '../models.ts';
import { find, startChat, typesOf, user } from './chat.ts';

/** Tools in the chat protocol (chat-and-agui.md 4, 17). */

const typing = defineTool({
  id: 'typing',
  description: 'Says what it finds while it looks.',
  input: z.object({}),
  execute(_, { stream }) {
    for (const delta of ['a', 'b', 'c']) stream(delta);
    return { data: 'all' };
  },
});

t.test('accumulates the output of an executing tool, and then sends its final result', async (t) => {
  const chat = await startChat(t, { app: { tools: [typing] } });
  chat.models.steps.push(asks(['c1', 'typing']));
  const frames = await chat.say('steps', 'T', user('u1', 'hi'));
  t.strictSame(
    frames
      .filter(({ type }) => type === 'tool-output-available')
      .map(({ output, preliminary }) => [output, preliminary]),
    [
      ['a', true],
      ['ab', true],
      ['abc', true],
      ['all', undefined],
    ],
  );
});

t.test('continues the run after a failed tool', async (t) => {
  const chat = await startChat(t);
  chat.models.steps.push(asks(['c1', 'nothing_of_this_name']));
  const frames = await chat.say('steps', 'T', user('u1', 'hi'));
  t.match(find(frames, 'tool-output-error'), { toolCallId: 'c1', providerExecuted: true });
  t.match(frames.at(-1), { type: 'finish', finishReason: 'stop' });
});

t.test('ends the run on a forbidden tool', async (t) => {
  const records = entriesFrom({ agents: [guarded([{ tool: 'note', behavior: 'deny' }])] });
  const chat = await startChat(t, { app: { records } });
  chat.models.steps.push(asks(['c1', 'note']));
  const frames = await chat.say('own', 'T', user('u1', 'hi'));
  t.match(find(frames, 'tool-output-error'), { toolCallId: 'c1' });
  t.match(frames.at(-1), { type: 'finish', finishReason: 'content-filter' });
  t.notOk(typesOf(frames).includes('error'));
  t.strictSame(chat.tools.executed, []);
});

t.test('lets the client execute a tool that its request declares', async (t) => {
  const chat = await startChat(t);
  chat.models.steps.push(asks(['c1', 'pick_colour', { of: 'the sky' }]));
  const tools = [
    { name: 'pick_colour', parameters: { type: 'object', properties: { of: { type: 'string' } } } },
  ];
  const asked = await chat.open('/v1/ai-sdk/agents/steps/runs', {
    threadId: 'T',
    messages: [user('u1', 'hi')],
    tools,
  });
  const frames = (await asked.rest()).map(({ frame }) => frame);
  t.match(find(frames, 'tool-input-available'), { toolCallId: 'c1', input: { of: 'the sky' } });
  t.match(frames.at(-1), { type: 'finish', finishReason: 'tool-calls' });
  const part = {
    type: 'tool-pick_colour',
    toolCallId: 'c1',
    state: 'output-available',
    input: {},
    output: 'blue',
  };
  const answered = await chat.say('steps', 'T', user('u1', 'hi'), {
    id: 'a1',
    role: 'assistant',
    parts: [part],
  });
  t.match(answered.at(-1), { type: 'finish', finishReason: 'stop' });
  const refused = await chat.open('/v1/ai-sdk/chat', { messages: [user('u2', 'hi')], tools: [{}] });
  t.equal(refused.status, 422);
  const other = await chat.say('steps', 'T', user('u3', 'hi'));
  t.match(
    other.at(-1),
    { type: 'finish', finishReason: 'stop' },
    'a request without declarations has no client tools',
  );
});
