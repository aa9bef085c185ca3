import t from 'tap';
import { createActor, fromPromise, SimulatedClock } from 'xstate';
import { mcpConnectionMachine } from '../../machines/index.ts';
import { createEnvironment } from '../../src/mcp/child.ts';
import { createLineReader, feedLines } from '../../src/mcp/lines.ts';
import { modernHeaders } from '../../src/mcp/modern.ts';
import { accepts, createNotificationLimiter } from '../../src/mcp/notification-limiter.ts';
import { refreshInterval, retryOf } from '../../src/mcp/policy.ts';
import { createProgress } from '../../src/mcp/progress.ts';
import { CallResult, toToolOutput } from '../../src/mcp/result.ts';
import { McpServerSpec } from '../../src/schema/mcp-server.ts';
import type { ToolProgress } from '../../src/tools/tool.ts';
import { ToolError } from '../../src/tools/tool.ts';

/** The components of connections: mcp.md B1, B4, B8, B9, C5. */

const outcomeOf = (result: object) => {
  try {
    return toToolOutput(CallResult.parse(result), { 'mcp.server': 's' });
  } catch (error) {
    return error;
  }
};

const text = (value: string, more: object = {}) => ({ type: 'text', text: value, ...more });

t.test('returns plain texts as the data of a result, and keeps other content complete', async (t) => {
  t.match(outcomeOf({ content: [text('a'), text('b')] }), { data: 'a\nb' });
  t.match(outcomeOf({ content: [] }), { data: '', metadata: { 'mcp.server': 's' } });
  for (const item of [
    text('a', { annotations: { priority: 1 } }),
    text('a', { _meta: { x: 1 } }),
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
    { type: 'resource', resource: { uri: 'a://', text: 'x' } },
    { type: 'resource_link', uri: 'a://', name: 'a' },
    { type: 'of tomorrow', any: [1] },
  ]) {
    const result = { content: [text('before'), item] };
    t.match(outcomeOf(result), { data: result, metadata: { 'mcp.result.content': result.content } });
  }
  const structured = { content: [text('{"a":1}')], structuredContent: { a: 1 } };
  t.match(outcomeOf(structured), {
    data: structured,
    metadata: { 'mcp.result.structuredContent': { a: 1 } },
  });
});

t.test('treats a result marked as an error as a failure with its message', async (t) => {
  for (const [result, message] of [
    [{ content: [text('no'), text('never')] }, 'no\nnever'],
    [{ content: [], structuredContent: { why: 'x' } }, '{"why":"x"}'],
    [
      { content: [{ type: 'image', data: 'A', mimeType: 'i' }] },
      '[{"type":"image","data":"A","mimeType":"i"}]',
    ],
    [{ content: [] }, 'Unknown error'],
  ] as const) {
    const error = outcomeOf({ ...result, isError: true });
    t.ok(error instanceof ToolError);
    t.match(error, { message, output: { metadata: { 'mcp.result.isError': true } } });
  }
});

t.test('emits progress only when it changes visibly', async (t) => {
  const shown: ToolProgress[] = [];
  const hear = createProgress((progress) => shown.push(progress));
  hear({ progress: 0, total: 1000 });
  hear({ progress: 1, total: 1000 });
  hear({ progress: 20, total: 1000 });
  hear({ progress: 21, total: 1000, message: 'half' });
  hear({ progress: 22, total: 1000, message: 'half' });
  hear({ progress: 5000, total: 1000 });
  hear({ progress: Number.POSITIVE_INFINITY });
  t.strictSame(
    shown.map(({ progress }) => progress),
    [0, 0.02, 0.021, 1],
  );
  t.match(shown[2], { status: 'running', message: 'half' });
});

t.test('drops most notifications of a flood, but no other message', async (t) => {
  const limiter = createNotificationLimiter();
  const count = (message: object, times: number, at = 1000): number =>
    Array.from({ length: times }).filter(() => accepts(limiter, { jsonrpc: '2.0', ...message } as never, at))
      .length;
  const progress = (progressToken: unknown) => ({
    method: 'notifications/progress',
    params: { progressToken, progress: 1 },
  });
  t.equal(count(progress(1), 1000), 50);
  t.equal(count(progress(2), 10), 10, 'each call has its own limit');
  t.equal(count(progress(1), 10, 2000), 10, 'the limit resets in the next second');
  t.equal(
    Array.from({ length: 5000 }).filter((_, token) => count(progress(`t${token}`), 1, 3000)).length,
    1001,
  );
  t.equal(count({ method: 'notifications/tools/list_changed' }, 1000), 1);
  t.equal(count({ method: 'notifications/tools/list_changed' }, 1000, 1051), 1);
  t.equal(count({ method: 'notifications/message', params: {} }, 100), 100);
  t.equal(count({ id: 1, result: {} }, 100), 100);
});

t.test('splits lines at any chunk boundary, and keeps the ends of oversized ones', async (t) => {
  const lines: string[] = [];
  const ends: string[] = [];
  const reader = createLineReader({
    most: 1000,
    onLine: (line) => lines.push(line.toString()),
    onTooLong: (text) => ends.push(text),
  });
  const all = `one\n\ntwo\n{"id":7${'x'.repeat(5000)}"id":8}\nthree\n`;
  for (let at = 0; at < all.length; at += 7) feedLines(reader, Buffer.from(all.slice(at, at + 7)));
  t.strictSame(lines, ['one', '', 'two', 'three']);
  t.equal(ends.length, 1);
  t.match(ends[0], /^\{"id":7x+ x+"id":8\}$/);
  t.ok((ends[0]?.length ?? 0) <= 1025);
});

t.test('passes a few harmless variables to a child', async (t) => {
  t.strictSame(
    createEnvironment(
      { PATH: '/own', TOKEN: 't' },
      { PATH: '/bin', HOME: '/root', SERVICE_SECRETS_KEY: 'k', SHELL: '() { :; }', OPENAI_API_KEY: 'k' },
    ),
    { PATH: '/own', HOME: '/root', TOKEN: 't' },
  );
});

t.test('describes a message without a session in headers', async (t) => {
  const of = (method: string, params: object = {}) =>
    modernHeaders({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { ...params, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
    });
  t.strictSame(of('tools/list'), { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' });
  t.match(of('tools/call', { name: 'a tool' }), { 'mcp-name': 'a tool' });
  t.match(of('resources/read', { uri: 'ui://ä' }), {
    'mcp-name': `=?base64?${Buffer.from('ui://ä').toString('base64')}?=`,
  });
  t.match(of('prompts/get', { name: ' x' }), { 'mcp-name': '=?base64?IHg=?=' });
  t.strictSame(modernHeaders({ jsonrpc: '2.0', id: 1, method: 'tools/list' }), {});
});

const specOf = (restart_policy?: object) =>
  McpServerSpec.parse({
    id: 's',
    transport: 'stdio',
    command: 'x',
    ...(restart_policy && { restart_policy }),
  });

/** The times of the attempts in milliseconds after the loss of the connection, while none succeeds. */
const attemptsOf = async (restart_policy?: object): Promise<{ at: number[]; state: unknown }> => {
  const clock = new SimulatedClock();
  const at: number[] = [];
  let down = false;
  const actor = createActor(
    mcpConnectionMachine.provide({
      actors: {
        connect: fromPromise(async () => {
          if (!down) return;
          at.push(clock.now());
          throw new Error('down');
        }),
        close: fromPromise(async () => {}),
      },
    }),
    {
      clock,
      input: {
        host: {},
        now: () => 0,
        threshold: 3,
        retry: retryOf(specOf(restart_policy).restart_policy),
        refreshMs: 0,
      },
    },
  );
  actor.start();
  await new Promise(setImmediate);
  down = true;
  actor.send({ type: 'LOST', error: 'gone' });
  for (let times = 0; times < 400; times += 1) {
    await new Promise(setImmediate);
    clock.increment(100);
  }
  const state = actor.getSnapshot().value;
  actor.stop();
  return { at, state };
};

t.test('retries a lost server after 1, 2, 4, 8 and 16 seconds, and then abandons it', async (t) => {
  const { at, state } = await attemptsOf();
  t.strictSame(at, [1000, 3000, 7000, 15_000, 31_000]);
  t.equal(state, 'givenUp');
});

t.test('replaces delays and attempts with a restart policy', async (t) => {
  const policy = { enabled: true, delay_ms: 200, backoff_multiplier: 3, max_delay_ms: 1000 };
  t.strictSame(await attemptsOf({ ...policy, max_attempts: 4 }), {
    at: [200, 800, 1800, 2800],
    state: 'givenUp',
  });
  const endless = await attemptsOf(policy);
  t.equal(endless.state, 'disconnected');
  t.ok(endless.at.length > 35);
  t.strictSame((await attemptsOf({ ...policy, enabled: false })).at.slice(0, 2), [1000, 3000]);
});

t.test('spreads the refresh of tools over servers', async (t) => {
  const intervals = Array.from({ length: 100 }, (_, index) => refreshInterval(60_000, `server-${index}`));
  t.ok(intervals.every((ms) => ms >= 54_000 && ms <= 66_000));
  t.ok(new Set(intervals).size > 90);
  t.equal(refreshInterval(60_000, 'a'), refreshInterval(60_000, 'a'));
  t.equal(refreshInterval(0, 'a'), 0);
});
