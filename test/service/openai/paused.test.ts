import t from 'tap';
import { admin, uses } from '../budget.ts';
import { countRuns, say, startChat } from './chat.ts';

/** Runs that wait for a budget, in the protocol of OpenAI (openai.md 6.5): a text that no message of the user decides. */

const startExhausted = async (t: Parameters<typeof startChat>[0]) => {
  const chat = await startChat(t);
  const { troupe } = chat;
  const budget = { id: 'b', window: { every: 'month' }, limits: { tokens: 1000 } };
  t.equal((await troupe.call('PUT', '/v1/config/budgets/b', budget, admin)).status, 200);
  troupe.models.steps.push(uses(1000, 0));
  await chat.complete({ model: 'steps', messages: [say('spend')] });
  return chat;
};

const TEXT = "Budget 'b' is exhausted. The answer continues when the budget is raised.";

t.test('answers with the wait for the budget, also as a stream', async (t) => {
  const { complete, stream } = await startExhausted(t);
  const headers = { 'x-conversation-id': 'c' };
  const whole = await complete({ model: 'steps', messages: [say('hi')] }, headers);
  t.match(whole, { status: 200, content: TEXT, finish_reason: 'stop' });
  const streamed = await stream({ model: 'steps', messages: [say('hi')] }, { 'x-conversation-id': 'd' });
  t.match(streamed, { content: TEXT, finish_reason: 'stop' });
  t.notMatch(streamed.raw, /budget_/);
});

t.test('takes the next message as new input, and not as a decision', async (t) => {
  const { complete, troupe } = await startExhausted(t);
  const headers = { 'x-conversation-id': 'c' };
  const asked = [say('hi')];
  const first = await complete({ model: 'steps', messages: asked }, headers);
  const runs = await countRuns(troupe);
  const history = [...asked, { role: 'assistant', content: first.content }, say('/approve')];
  const second = await complete({ model: 'steps', messages: history }, headers);
  t.match(second, { status: 200, content: TEXT, thread_id: first.thread_id });
  t.equal(await countRuns(troupe), runs, 'the same run waits again');
});

t.test('a response has a message about the budget that it waits for', async (t) => {
  const { troupe } = await startExhausted(t);
  const { status, body } = await troupe.call('POST', '/v1/responses', { model: 'steps', input: 'hi' });
  t.equal(status, 200);
  t.match(body, {
    status: 'completed',
    output: [{ type: 'message', content: [{ type: 'output_text', text: TEXT }] }],
    output_text: TEXT,
  });
  const read = await troupe.call('GET', `/v1/responses/${body.id}`);
  t.strictSame(read.body.output, body.output);
});
