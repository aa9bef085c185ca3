import t from 'tap';
import { asks } from './models.ts';
import { withTools } from './suspended.ts';
import { eventually } from './troupe.ts';

/**
 * Payloads that are no approval, on the native routes and in chat, AG-UI and A2A (identity.md 4, check 61). Those of MCP
 * are in mcp/asking.test.ts.
 */

/** A native `resume` without a payload is one. */
const UNCLEAR = ['deny', false, {}, { approved: 'true' }, { approved: 1 }, { approve: true }, [true]];

type Send = (thread: string, payload: unknown) => { path: string; body: object };

const user = { id: 'u1', role: 'user', content: 'Hello' };

const chat = (threadId: string, part: object) => ({
  path: '/v1/ai-sdk/chat',
  body: {
    threadId,
    messages: [
      { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
      { id: 'a1', role: 'assistant', parts: [{ type: 'tool-risky', toolCallId: 'c1', input: {}, ...part }] },
    ],
  },
});

const SURFACES: Record<string, Send> = {
  native: (thread, payload) => ({
    path: `/v1/threads/${thread}/decision`,
    body: { toolCallId: 'c1', action: 'resume', payload },
  }),
  chat: (thread, payload) =>
    chat(thread, {
      state: 'approval-responded',
      approval: typeof payload === 'object' && payload ? { id: 'perm_c1', ...payload } : payload,
    }),
  'AG-UI': (thread, payload) => ({
    path: '/v1/ag-ui/run',
    body: {
      threadId: thread,
      messages: [],
      resume: [{ interruptId: 'perm_c1', status: 'resolved', payload }],
    },
  }),
};

/** Inputs that answer a client tool, and never a permission. */
const ANSWERS: Record<string, Send> = {
  'an output in chat': (thread, output) => chat(thread, { state: 'output-available', output }),
  'an error in chat': (thread) => chat(thread, { state: 'output-error', errorText: 'failed' }),
  'a tool message in AG-UI': (thread, content) => ({
    path: '/v1/ag-ui/run',
    body: {
      threadId: thread,
      messages: [user, { id: 'r1', role: 'tool', toolCallId: 'c1', content: JSON.stringify(content) }],
    },
  }),
  'a data part in A2A': (thread, data) => ({
    path: '/v1/a2a/steps/message:send',
    body: {
      message: {
        messageId: thread,
        contextId: thread,
        role: 'ROLE_USER',
        parts: [{ data: { toolCallId: 'c1', payload: data } }],
      },
    },
  }),
};

t.test('executes a call on an approval only, once, on every surface (check 61)', async (t) => {
  const { troupe, tools } = await withTools(t);
  let turn = 0;
  const wait = async (): Promise<string> => {
    turn += 1;
    const thread = `t${turn}`;
    troupe.models.steps.push(asks(['c1', 'risky']));
    const messages = [{ role: 'user', content: 'Hello' }];
    await troupe.runToEnd({ agentId: 'steps', threadId: thread, messages });
    return thread;
  };
  const send = async (by: Send, thread: string, payload: unknown): Promise<number> => {
    const { path, body } = by(thread, payload);
    return (await troupe.call('POST', path, body, { 'a2a-version': '1.0' })).status;
  };
  for (const [surface, by] of Object.entries(SURFACES)) {
    for (const payload of UNCLEAR) {
      const status = await send(by, await wait(), payload);
      t.ok(status < 500, `${surface}: ${status} for ${JSON.stringify(payload)}`);
      t.strictSame(tools.executed, [], `${surface}: ${JSON.stringify(payload)} is no approval`);
    }
    const thread = await wait();
    await send(by, thread, { approved: true });
    await eventually(
      async () => tools.executed,
      ({ length }) => length === 1,
    );
    await send(by, thread, { approved: true });
    t.strictSame(tools.executed.splice(0), ['c1'], `${surface}: an approval executes the call once`);
  }
  for (const [name, by] of Object.entries(ANSWERS)) {
    const status = await send(by, await wait(), { approved: true });
    t.ok(status < 500, `${name}: ${status}`);
    t.strictSame(tools.executed, [], `${name} is no approval`);
  }
});
