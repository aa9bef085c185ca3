import t from 'tap';
import { startTroupe } from '../troupe.ts';
import { mcpClient, rawStatus, rpc } from './mcp.ts';

/** Valid requests, and the errors for invalid ones: mcp.md A1 to A6, checks 1 to 8 and 25 to 32. */

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const refusal = (code: number, message: string | RegExp, id: unknown = null) => ({
  jsonrpc: '2.0',
  error: { code, message },
  id,
});

t.test('opens a session with the negotiated version on initialize', async (t) => {
  const { url, admin } = await startTroupe(t);
  const { post } = mcpClient(() => url);
  const { body: info } = await admin('GET', '/v1/system/info');
  t.type(info.version, 'string');
  for (const version of ['2025-11-25', '2025-06-18', '2025-03-26']) {
    const params = {
      protocolVersion: version,
      capabilities: {},
      clientInfo: { name: 'c', version: '1.0.0' },
    };
    const { status, type, headers, body } = await post(rpc(1, 'initialize', params));
    t.equal(status, 200);
    t.equal(type, 'application/json');
    t.match(headers.get('mcp-session-id'), UUID_V4);
    t.strictSame(body, {
      jsonrpc: '2.0',
      id: 1,
      result: {
        protocolVersion: version,
        capabilities: { tools: { listChanged: true }, logging: {} },
        serverInfo: { name: 'troupe-mcp', version: info.version },
      },
    });
  }
  for (const params of [
    { protocolVersion: '1999-01-01' },
    { protocolVersion: 7, capabilities: [], clientInfo: { name: 1 } },
    {},
    [],
    'text',
    undefined,
  ]) {
    const { status, headers, body } = await post(rpc('x', 'initialize', params));
    t.equal(status, 200);
    t.match(headers.get('mcp-session-id'), UUID_V4);
    t.match(body, { id: 'x', result: { protocolVersion: '2025-11-25' } });
  }
});

t.test('rejects initialize with any session id, even an empty one', async (t) => {
  const { url } = await startTroupe(t);
  const { post, open } = mcpClient(() => url);
  const { id } = await open();
  for (const named of [id, 'bogus', '']) {
    const { status, headers, body } = await post(rpc(1, 'initialize', {}), { 'mcp-session-id': named });
    t.equal(status, 400);
    t.equal(headers.get('mcp-session-id'), null);
    t.strictSame(body, refusal(-32600, 'initialize requests must not include an MCP session id'));
  }
});

t.test('requires a known session for all other messages', async (t) => {
  const { url } = await startTroupe(t);
  const { post, send, open } = mcpClient(() => url);
  const session = await open();
  const messages = [
    rpc(1, 'tools/list'),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 5, result: {} },
  ];
  for (const message of messages) {
    for (const headers of [undefined, { 'mcp-session-id': '' }, { 'mcp-session-id': '  ' }]) {
      const { status, body } = await post(message, headers);
      t.equal(status, 400);
      t.strictSame(body, refusal(-32600, 'missing MCP-Session-Id header'));
    }
    const unknown = await post(message, { 'mcp-session-id': 'bogus' });
    t.equal(unknown.status, 404);
    t.strictSame(unknown.body, refusal(-32600, 'unknown MCP session'));
  }
  t.equal(
    (await session.post(rpc(1, 'tools/list'))).status,
    200,
    'requests are accepted before notifications/initialized',
  );
  for (const message of messages.slice(1)) {
    const { status, text } = await session.post(message, { 'mcp-session-id': ` ${session.id} ` });
    t.strictSame([status, text], [202, '']);
  }
  t.equal((await send('DELETE')).status, 400);
  t.equal((await send('DELETE', { 'mcp-session-id': 'bogus' })).status, 404);
  const ended = await session.end();
  t.strictSame([ended.status, ended.text], [204, '']);
  t.equal((await session.end()).status, 404);
  t.equal((await session.post(rpc(2, 'ping'))).status, 404);
});

t.test('requires a supported protocol version that matches the session', async (t) => {
  const { url } = await startTroupe(t);
  const { post, open } = mcpClient(() => url);
  const session = await open({ protocolVersion: '2025-06-18' });
  const ping = rpc(1, 'ping');
  const at = (version: string) => ({ 'mcp-protocol-version': version });
  for (const wrong of ['1.0', '2025-11-25']) {
    const { status, body } = await session.post(ping, at(wrong));
    t.equal(status, 400);
    t.strictSame(body, refusal(-32600, `unsupported MCP protocol version: ${wrong}`));
  }
  const unopened = await post(rpc(1, 'initialize', {}), at('1.0'));
  t.equal(unopened.status, 400);
  t.equal(unopened.headers.get('mcp-session-id'), null);
  t.match(
    (await post('{', at('1.0'))).body,
    refusal(-32600, /^unsupported/),
    'the version is checked before the body',
  );
  for (const right of ['2025-06-18', ' 2025-06-18 ', '', ' ']) {
    t.equal((await session.post(ping, at(right))).status, 200, `'${right}'`);
  }
});

t.test('rejects an invalid message as a JSON-RPC error', async (t) => {
  const { url } = await startTroupe(t);
  const { post, open } = mcpClient(() => url);
  const session = await open();
  const one = 'HTTP body must contain exactly one JSON-RPC object';
  const ids = 'MCP requests MUST use string or integer IDs; notifications MUST omit the id field';
  const version = 'JSON-RPC messages MUST include "jsonrpc": "2.0"';
  const cases: [body: unknown, code: number, message: string | RegExp, id?: unknown][] = [
    ['{', -32700, /^failed to parse JSON-RPC message: ./],
    ['', -32700, /^failed to parse JSON-RPC message: ./],
    [`[${'['.repeat(500)}`, -32700, /^failed to parse JSON-RPC message: ./],
    [
      '{"jsonrpc":"2.0","id":"a","method":"ping","params":{"x":[1234567890123456789]}}',
      -32602,
      /^params\.x\[0\]: the integer 1234567890123456789 cannot be kept exactly/,
      'a',
    ],
    [
      '{"jsonrpc":"2.0","id":1234567890123456789,"method":"ping"}',
      -32600,
      /^invalid JSON-RPC request: id must/,
    ],
    [
      '{"jsonrpc":"2.0","method":"notifications/x","params":{"y":1234567890123456789}}',
      -32602,
      /^params\.y: the integer 1234567890123456789/,
    ],
    [[], -32600, one],
    [[rpc(1, 'ping')], -32600, one],
    ['"x"', -32600, one],
    ['7', -32600, one],
    ['null', -32600, one],
    [{ id: 1, method: 'ping' }, -32600, version, 1],
    [{ jsonrpc: 2, id: 'a', method: 'ping' }, -32600, version, 'a'],
    [{ method: 'ping' }, -32600, version, null],
    [{ id: {}, method: 'ping' }, -32600, version, null],
    [rpc(1, ''), -32600, "missing 'method' field", 1],
    [rpc(null, 'ping'), -32600, ids],
    [rpc(1.5, 'ping'), -32600, /^invalid JSON-RPC request: ./],
    [rpc(true, 'ping'), -32600, /^invalid JSON-RPC request: ./],
    [rpc({}, 'ping'), -32600, /^invalid JSON-RPC request: ./],
    [
      { jsonrpc: '2.0', id: null, result: {} },
      -32600,
      'JSON-RPC responses MUST use the original string or integer request id',
    ],
    [{ jsonrpc: '2.0', id: 1, result: 5 }, -32600, /^invalid JSON-RPC response: ./, 1],
    [{ jsonrpc: '2.0', id: 1, error: {} }, -32600, /^invalid JSON-RPC response: ./, 1],
    [
      { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'm' }, result: {} },
      -32600,
      /^invalid JSON-RPC response: ./,
      1,
    ],
    [{ jsonrpc: '2.0', result: {} }, -32600, /^invalid JSON-RPC response: ./],
    [{ jsonrpc: '2.0', id: 1 }, -32600, 'unrecognized JSON-RPC payload', 1],
    [{ jsonrpc: '2.0', id: 1, method: 7 }, -32600, 'unrecognized JSON-RPC payload', 1],
  ];
  for (const [body, code, message, id = null] of cases) {
    for (const headers of [undefined, { 'mcp-session-id': session.id }]) {
      const answer = await post(body, headers);
      t.equal(answer.status, 400, JSON.stringify(body));
      t.match(answer.body, refusal(code, message, id), JSON.stringify(body));
    }
  }
  t.equal((await session.post(rpc(2, 'ping'))).status, 200, 'the session remains usable');
});

t.test('limits a body to 2 MiB', async (t) => {
  const { url } = await startTroupe(t);
  const { post, open } = mcpClient(() => url);
  const session = await open();
  const sized = (bytes: number) => JSON.stringify(rpc(1, 'ping', { pad: 'x'.repeat(bytes) }));
  const { status, body } = await post(sized(3 * 1024 * 1024), { 'mcp-session-id': session.id });
  t.equal(status, 413);
  t.match(body, refusal(-32600, /larger than/));
  t.equal((await session.post(sized(2 * 1024 * 1024 - 100))).status, 200);
});

t.test('returns the id of the request with its type', async (t) => {
  const { url } = await startTroupe(t);
  const { id: _, post } = await mcpClient(() => url).open();
  for (const id of [0, -1, 7, '7', '', 'ü', Number.MAX_SAFE_INTEGER]) {
    t.strictSame((await post(rpc(id, 'ping'))).body, { jsonrpc: '2.0', id, result: {} });
  }
});

t.test('names an unknown method', async (t) => {
  const { url } = await startTroupe(t);
  const session = await mcpClient(() => url).open();
  for (const method of ['resources/list', 'prompts/list', 'completion/complete', 'no/such', '__proto__']) {
    const { status, type, body } = await session.post(rpc(3, method, {}));
    t.equal(status, 200);
    t.equal(type, 'application/json');
    t.strictSame(body, refusal(-32601, `Method not found: ${method}`, 3));
  }
  t.equal((await session.notify('notifications/no-such', { x: 1 })).status, 202);
  t.equal((await session.notify('no/such')).status, 202);
});

t.test('returns 405 for other HTTP methods', async (t) => {
  const { url } = await startTroupe(t);
  const { send } = mcpClient(() => url);
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH']) {
    const { status, text, headers } = await send(method);
    t.strictSame([status, text, headers.get('allow')], [405, '', 'POST, DELETE'], method);
  }
});

t.test('rejects foreign origins on every method', async (t) => {
  const { url } = await startTroupe(t, {
    settings: {
      mcp_allowed_origins: ['https://app.example'],
      mcp_allowed_hosts: ['troupe.internal'],
      identity: { anonymous: 'always' },
    },
  });
  const { send } = mcpClient(() => url);
  const { host, port } = new URL(url);
  const from = (origin: string, name = host) => ({ host: name, origin });
  const body = JSON.stringify(rpc(1, 'initialize', {}));
  for (const headers of [
    from('https://evil.example'),
    from('http://evil.example.com', 'evil.example.com'),
    from('http://evil.example.com:1', `evil.example.com:${port}`),
    from('null'),
    from('foo'),
    from('file:///etc'),
    from('http://localhost.evil.example'),
    { host: 'evil.example.com' },
  ]) {
    for (const method of ['POST', 'GET', 'DELETE', 'PUT']) {
      t.equal(await rawStatus(url, { method, headers, body }), 403, `${method} ${JSON.stringify(headers)}`);
    }
  }
  for (const headers of [
    { host },
    from('http://localhost:5173'),
    from('https://127.0.0.1'),
    from('http://[::1]:8080'),
    from('http://LOCALHOST'),
    from('https://app.example'),
    from('https://troupe.internal', `troupe.internal:${port}`),
    { host: `[::1]:${port}` },
  ]) {
    t.equal(await rawStatus(url, { headers, body }), 200, JSON.stringify(headers));
  }
  const refused = await send('GET', { origin: 'https://evil.example' });
  t.strictSame(refused.body, refusal(-32600, 'Origin header is not allowed for this MCP endpoint'));
  t.strictSame((await send('GET', { origin: 'null' })).body, refusal(-32600, 'invalid Origin header'));
});

t.test('returns a JSON-RPC error for an unresolvable scope', async (t) => {
  const { url } = await startTroupe(t, {
    app: {
      resolveScope: () => {
        throw new Error('no tenant');
      },
    },
  });
  const { status, body } = await mcpClient(() => url).post(rpc(1, 'initialize', {}));
  t.equal(status, 401);
  t.match(body, refusal(-32600, /^scope resolution failed: /));
});

t.test('rejects invalid parameters and closes the request', async (t) => {
  const { url, admin } = await startTroupe(t);
  const { post, open } = mcpClient(() => url);
  const session = await open();
  const cases: [method: string, params: unknown][] = [
    ['ping', [1]],
    ['ping', 5],
    ['ping', null],
    ['tools/list', { _meta: 5 }],
    ['tools/list', { _meta: { progressToken: {} } }],
    ['tools/call', { name: 'echo', arguments: { message: 'x' }, _meta: { progressToken: 1.5 } }],
    ['no/such', 'text'],
    // Only the SDK detects that this is invalid.
    ['ping', { _meta: { 'io.modelcontextprotocol/related-task': 5 } }],
  ];
  for (const [method, params] of cases) {
    const { status, text } = await session.post(rpc(1, method, params));
    t.equal(status, 200);
    t.match(text, /"code":-32602/, `${method} ${JSON.stringify(params)}`);
  }
  const { body } = await admin('GET', '/v1/system/actors?machine=mcp-session&state=open.idle');
  t.equal((body.items as unknown[]).length, 1);
  t.match((await session.post(rpc(1, 'tools/list', { cursor: 5 }))).body, { result: { tools: [] } });
  for (const odd of [
    { capabilities: { elicitation: 5 } },
    { clientInfo: { name: 'c', version: '1', icons: 5 } },
    { _meta: 7 },
  ]) {
    const opened = await post(rpc(1, 'initialize', { protocolVersion: '2025-06-18', ...odd }));
    t.match(opened.body, { result: { protocolVersion: '2025-06-18' } });
    t.type(opened.headers.get('mcp-session-id'), 'string');
  }
});
