import t from 'tap';
import { z } from 'zod';
import { createMetrics } from '../../src/observability/metrics/metrics.ts';
import { createObserver } from '../../src/observability/observer.ts';
import { historyBytes, messageBytes } from '../../src/runtime/ledger/history-bytes.ts';
import { unstoredLedger } from '../../src/runtime/ledger/in-memory.ts';
import type { Message } from '../../src/schema/message.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { asks } from './models.ts';
import { startDemo, startTroupe } from './troupe.ts';

/** The size of a thread is limited, because every run loads all of it. */

const LIMIT = 20_000;
const LONG = 'x'.repeat(6000);

const REFUSED = /^thread 'T' holds 0\.0 MiB of messages and takes no 0\.0 MiB more: .*thread_limit_bytes/;

const INPUTS: [path: string, body: (text: string) => object][] = [
  ['/v1/threads/T/messages', (content) => ({ agentId: 'echo', messages: [{ role: 'user', content }] })],
  ['/v1/threads/T/mailbox', (text) => ({ payload: { text } })],
  ['/v1/runs', (content) => ({ agentId: 'echo', threadId: 'T', messages: [{ role: 'user', content }] })],
  [
    '/v1/ai-sdk/threads/T/runs',
    (text) => ({ agentId: 'echo', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text }] }] }),
  ],
  [
    '/v1/ag-ui/threads/T/runs',
    (content) => ({ agentId: 'echo', messages: [{ id: 'm', role: 'user', content }] }),
  ],
  [
    '/v1/a2a/echo/message:send',
    (text) => ({ message: { messageId: 'm', contextId: 'T', role: 'ROLE_USER', parts: [{ text }] } }),
  ],
];

t.test(
  'rejects input that exceeds the thread limit with 413 on every route, and stores nothing of it',
  async (t) => {
    const troupe = await startDemo(t, { settings: { thread_limit_bytes: LIMIT } });
    const { post, call } = troupe;
    await troupe.runToEnd({ agentId: 'echo', threadId: 'T', messages: [{ role: 'user', content: LONG }] });
    const before = await call('GET', '/v1/threads/T/messages');
    for (const restarted of [false, true]) {
      if (restarted) await troupe.restart();
      for (const [path, body] of INPUTS) {
        const { status, body: answer } = await post(path, body(LONG + LONG));
        t.equal(status, 413, path);
        const error = (answer.error as { message?: string }).message ?? answer.error;
        t.match(error, REFUSED, path);
      }
    }
    t.strictSame((await call('GET', '/v1/threads/T/messages')).body, before.body);
    t.equal((await call('GET', '/v1/threads/T/runs')).body.total, 1);
    const short = { agentId: 'echo', threadId: 'T', messages: [{ role: 'user', content: 'short' }] };
    t.match((await troupe.runToEnd(short)).at(-1), { termination: { type: 'natural_end' } });
  },
);

t.test('counts pending input toward the limit', async (t) => {
  const troupe = await startTroupe(t, { settings: { thread_limit_bytes: LIMIT } });
  const messages = [{ role: 'user', content: LONG }];
  const run = await troupe.run({ agentId: 'slow', threadId: 'T', messages });
  await run.until('text_delta');
  t.equal((await troupe.post('/v1/threads/T/messages', { messages })).status, 202);
  t.equal((await troupe.post('/v1/threads/T/messages', { messages })).status, 202);
  t.equal((await troupe.post('/v1/threads/T/messages', { messages })).status, 413);
  await run.close();
});

t.test('ends a run with an error when its thread exceeds the limit', async (t) => {
  const long = defineTool({
    id: 'long',
    description: 'Returns much.',
    input: z.object({}),
    execute: () => 'y'.repeat(LIMIT),
  });
  const troupe = await startTroupe(t, {
    settings: { thread_limit_bytes: LIMIT },
    app: { tools: [long] },
  });
  troupe.models.steps.push(asks(['c1', 'long']));
  const events = await troupe.runToEnd({
    agentId: 'steps',
    threadId: 'T',
    messages: [{ role: 'user', content: 'Hello' }],
  });
  t.match(events.at(-1), {
    event_type: 'run_finish',
    termination: { type: 'error', value: /the thread holds \d+ bytes.*thread_limit_bytes/ },
  });
  t.equal(troupe.models.requests.length, 1, 'no further inference is made');
  t.equal((await troupe.call('GET', '/v1/threads/T/messages')).body.total, 3);
});

t.test('counts a history without stored counts once, and continues from there', (t) => {
  const history: Message[] = ['ab', 'cde'].map((text, index) => ({
    id: String(index),
    role: 'user',
    content: [{ type: 'text', text }],
  }));
  const ledger = unstoredLedger(
    {
      clock: { now: () => 0 },
      ids: { uuid: () => 'u' },
      observe: createObserver({ metrics: createMetrics(), stats: undefined }),
    },
    { scope: 's', id: 't', history },
  );
  const expected = JSON.stringify(history[0]).length + JSON.stringify(history[1]).length;
  t.ok(Math.abs(historyBytes(ledger) - expected) < 10, `${historyBytes(ledger)} for ${expected}`);
  t.equal(ledger.tail.bytes, historyBytes(ledger));
  t.equal(
    messageBytes({ id: '', role: 'user', content: [{ type: 'text', text: 'é' }] }) -
      messageBytes({ id: '', role: 'user', content: [{ type: 'text', text: '' }] }),
    2,
  );
  t.end();
});
