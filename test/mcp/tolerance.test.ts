import t from 'tap';
import { type Exchange, startPeer } from './http-peer.ts';
import { http, manage } from './manage.ts';

/** Servers that write the protocol loosely, lose sessions or do not respond. */

const TEXT = { content: [{ type: 'text', text: 'hello' }] };

const body = ({ response, message }: Exchange, written: object): void => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...written }));
};

t.test('ends a call despite additional or null members in its response', async (t) => {
  const answers: Record<string, object> = {
    'error: null': { result: TEXT, error: null },
    'another member': { result: TEXT, took_ms: 3 },
    '_meta: null': { result: { ...TEXT, _meta: null } },
    'isError: null': { result: { ...TEXT, isError: null, structuredContent: null } },
  };
  let answer: object = {};
  const peer = await startPeer(t, { 'tools/call': (exchange) => body(exchange, answer) });
  const { start, call } = manage(t);
  await start(http('p', peer.url));
  for (const [name, written] of Object.entries(answers)) {
    answer = written;
    t.match(await call('p', 'echo'), { status: 'success', data: 'hello' }, name);
  }
  answer = { result: null, error: { code: -32000, message: 'no such row' } };
  t.match(await call('p', 'echo'), { status: 'error', message: /no such row/ });
  answer = { result: 'text' };
  t.match(await call('p', 'echo'), { status: 'error', message: /the result of the server is not an object/ });
  answer = { id: null, error: { code: -32700, message: 'Parse error' } };
  t.match(await call('p', 'echo'), { status: 'error', message: /Parse error/ });
});

t.test('reads each page of a list once', async (t) => {
  const tool = (name: string) => ({
    name,
    title: null,
    description: null,
    annotations: null,
    inputSchema: { type: 'object' },
  });
  const lists: Record<string, (cursor: unknown) => object> = {
    'a cursor that is null': () => ({ tools: [tool('a')], nextCursor: null }),
    'a cursor that is empty': () => ({ tools: [tool('a')], nextCursor: '' }),
    'a cursor that is ignored': () => ({ tools: [tool('a')], nextCursor: 'same' }),
    'cursors of a circle': (cursor) => ({ tools: [tool('a')], nextCursor: cursor === 'x' ? 'y' : 'x' }),
    'a page with two': (cursor) =>
      cursor === 'second' ? { tools: [tool('a')] } : { tools: [tool('a')], nextCursor: 'second' },
  };
  for (const [name, list] of Object.entries(lists)) {
    const peer = await startPeer(t, {
      'tools/list': ({ message, result }) => result(list(message.params?.cursor)),
    });
    const { start } = manage(t);
    const { tools, left_out } = await start(http('p', peer.url));
    t.strictSame([tools, left_out], [[{ name: 'a', description: null }], []], name);
    t.ok(peer.of('tools/list').length <= 4, name);
  }
});

t.test('opens a new session once for each form of a lost session', async (t) => {
  for (const [status, text] of [
    [404, ''],
    [410, ''],
    [400, 'Bad Request: No valid session ID provided'],
    [400, '{"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}'],
    [401, 'invalid session'],
    [500, '{"error":"Session abc not found"}'],
  ] as const) {
    let lost = 0;
    const peer = await startPeer(t, {
      'tools/call': ({ headers, status: refuse, result }) => {
        if (headers['mcp-session-id'] === 'session-1') {
          lost += 1;
          refuse(status, text);
        } else result(TEXT);
      },
    });
    const { start, call, manager } = manage(t);
    await start(http('p', peer.url));
    t.match(await call('p', 'echo'), { status: 'success' }, `${status} ${text}`);
    t.strictSame([lost, peer.of('initialize').length, manager.status('p').session_generation], [1, 2, 3]);
  }
});

t.test('does not repeat a call that may have been executed', async (t) => {
  for (const [status, text] of [
    [500, 'boom'],
    [503, ''],
    [400, 'the argument is wrong'],
    [401, 'no key'],
  ] as const) {
    const peer = await startPeer(t, { 'tools/call': ({ status: refuse }) => refuse(status, text) });
    const { start, call } = manage(t);
    await start(http('p', peer.url));
    t.match(await call('p', 'echo'), { status: 'error', message: new RegExp(`HTTP error: ${status}`) });
    t.strictSame([peer.of('tools/call').length, peer.of('initialize').length], [1, 1]);
  }
});

t.test('fails the call if the server rejects each new session, and counts the failure', async (t) => {
  const peer = await startPeer(t, { 'tools/call': ({ status }) => status(404) });
  const { start, call, manager } = manage(t);
  await start(http('p', peer.url));
  t.match(await call('p', 'echo'), { status: 'error', message: /refuses a session that it has just opened/ });
  t.strictSame([peer.of('initialize').length, manager.status('p').consecutive_failures], [2, 1]);
});

t.test('does not delay a cancelled call while a session is being opened', async (t) => {
  let opened = 0;
  const peer = await startPeer(t, {
    initialize({ response, result }) {
      opened += 1;
      if (opened > 1) return;
      response.setHeader('mcp-session-id', 'first');
      result({ protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'p', version: '1' } });
    },
    'tools/call': ({ status }) => status(404),
  });
  const { start, call } = manage(t);
  await start(http('p', peer.url));
  const run = new AbortController();
  const calling = call('p', 'echo', {}, { signal: run.signal });
  while (opened < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  run.abort();
  t.match(await calling, { status: 'error', message: /^Cancelled: / });
});

t.test('accepts a very long timeout', async (t) => {
  const peer = await startPeer(t);
  const { start, call } = manage(t);
  await start(http('p', peer.url, { timeout_secs: 9_000_000_000 }));
  t.match(await call('p', 'echo', { a: 1 }), { status: 'success', data: '{"a":1}' });
});
