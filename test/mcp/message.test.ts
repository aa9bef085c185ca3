import { parseJSONRPCMessage } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import t from 'tap';
import { McpFailure } from '../../src/mcp/failure.ts';
import { asMessage, REFUSED, readMessage } from '../../src/mcp/message.ts';

/** The reader of messages against the official client: the client accepts everything that the reader accepts. */

const ID = 'io.modelcontextprotocol/related-task';

const odd = fc.oneof(
  fc.constantFrom(null, [], {}, '', 'x', 0, 1.5, true, undefined),
  fc.record(
    {
      [ID]: fc.constantFrom(null, {}, { taskId: 't' }, { taskId: 4 }),
      progressToken: fc.constantFrom(null, 1, 'p', {}),
    },
    { requiredKeys: [] },
  ),
  fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text)),
);

const message = fc.record(
  {
    jsonrpc: fc.constant('2.0'),
    id: fc.oneof(fc.constantFrom(1, '1', null, 'a', 1.5, {}), odd),
    method: fc.constantFrom('ping', 'notifications/progress', null, 4),
    params: fc.oneof(odd, fc.record({ _meta: odd, a: odd }, { requiredKeys: [] })),
    result: fc.oneof(
      odd,
      fc.record(
        { _meta: odd, content: odd, protocolVersion: odd, capabilities: odd, serverInfo: odd },
        { requiredKeys: [] },
      ),
    ),
    error: fc.oneof(odd, fc.record({ code: odd, message: odd, data: odd }, { requiredKeys: [] })),
    extra: odd,
  },
  { requiredKeys: ['jsonrpc'] },
);

t.test('accepts no message that the official client drops', async () => {
  fc.assert(
    fc.property(message, (value) => {
      let read: unknown;
      try {
        read = asMessage(JSON.parse(JSON.stringify(value)));
      } catch (error) {
        return error instanceof McpFailure;
      }
      if (read !== undefined) parseJSONRPCMessage(read);
      return true;
    }),
    { numRuns: 2000 },
  );
});

t.test('treats a non-numeric error code as an internal error', async (t) => {
  for (const code of [{ toString: false }, { valueOf: null, toString: null }, [1, 2], true, null, 'x', 1.5])
    t.match(asMessage({ jsonrpc: '2.0', id: 1, error: { code, message: 'no' } }), {
      error: { code: -32603 },
    });
});

const RESULT = { content: [{ type: 'text', text: 'hello' }] };

t.test('treats null as absent, and ignores unknown members', async (t) => {
  const plain = { jsonrpc: '2.0', id: 1, result: { ...RESULT, resultType: 'complete' } };
  for (const [name, written] of Object.entries({
    'a null error': { jsonrpc: '2.0', id: 1, result: RESULT, error: null },
    'a member more': { jsonrpc: '2.0', id: 1, result: RESULT, took_ms: 3 },
    'a null _meta': { jsonrpc: '2.0', id: 1, result: { ...RESULT, _meta: null } },
    'null members of the result': {
      jsonrpc: '2.0',
      id: 1,
      result: { ...RESULT, isError: null, structuredContent: null },
    },
    'null members of content': {
      jsonrpc: '2.0',
      id: 1,
      result: { content: [null, { type: 'text', text: 'hello', annotations: null }] },
    },
    'its id as a text': { jsonrpc: '2.0', id: '1', result: RESULT },
  }))
    t.strictSame(asMessage(written), plain, name);
});

t.test('accepts an error of any shape', async (t) => {
  const error = (given: unknown) => asMessage({ jsonrpc: '2.0', id: 1, result: null, error: given });
  t.strictSame(error({ code: -32000, message: 'no such row', data: null }), {
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32000, message: 'no such row' },
  });
  t.match(error({ code: '-5', message: 'x' }), { error: { code: -5, message: 'x' } });
  t.match(error('broken'), { error: { code: -32603, message: 'broken' } });
  t.match(error({ reason: 'x' }), { error: { code: -32603, message: '{"reason":"x"}' } });
});

t.test('rejects an unusable response, so that its request ends', async (t) => {
  for (const written of [
    { jsonrpc: '2.0', id: 1, result: 'text' },
    { jsonrpc: '2.0', id: {}, result: {} },
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } },
  ])
    t.throws(() => asMessage(written), McpFailure);
});

t.test('keeps nulls that belong to a tool', async (t) => {
  const schema = { type: 'object', properties: { a: { enum: ['x', null], default: null } } };
  t.match(
    asMessage({
      jsonrpc: '2.0',
      id: 1,
      result: { structuredContent: { a: null }, tools: [{ name: 'x', title: null, inputSchema: schema }] },
    }),
    { result: { structuredContent: { a: null }, tools: [{ name: 'x', inputSchema: schema }] } },
  );
});

t.test('accepts a loosely written handshake', async (t) => {
  t.match(
    readMessage(
      Buffer.from(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 0,
          result: {
            protocolVersion: '2025-06-18',
            capabilities: { tools: [], prompts: null, logging: true, resources: { subscribe: null } },
            serverInfo: { name: 'x', version: null, icons: null },
          },
        }),
      ),
    ),
    {
      result: {
        capabilities: { tools: {}, logging: {}, resources: {} },
        serverInfo: { name: 'x', version: '' },
      },
    },
  );
});

const readText = (text: string) => readMessage(Buffer.from(text));

t.test('keeps the id of a request with an inexact integer, and names its position', async (t) => {
  for (const id of ['7', '"q"']) {
    const params = '{"messages":[],"metadata":{"ids":[1,1234567890123456789]}}';
    const method = 'sampling/createMessage';
    t.strictSame(readText(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`), {
      jsonrpc: '2.0',
      id: JSON.parse(id),
      method: REFUSED,
      params: {
        reason:
          'params.metadata.ids[1]: the integer 1234567890123456789 cannot be kept exactly: ' +
          'beyond 2^53 an integer must be a string',
      },
    });
  }
});

t.test('names a dropped notification, or a request without a usable id', async (t) => {
  t.match(readText('{"jsonrpc":"2.0","method":"notifications/x","params":{"at":1234567890123456789}}'), {
    id: undefined,
    method: REFUSED,
    params: {
      reason: /^notifications\/x of the server was dropped: params\.at: the integer 1234567890123456789/,
    },
  });
  t.match(readText('{"jsonrpc":"2.0","id":1234567890123456789,"method":"ping"}'), {
    id: undefined,
    method: REFUSED,
    params: { reason: /^ping of the server was dropped: id: the integer 1234567890123456789/ },
  });
});

t.test('keeps exact numbers of requests unchanged', async (t) => {
  const text = '{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":9007199254740991,"b":1e30}}';
  t.match(readText(text), { id: 1, method: 'x', params: { a: 9007199254740991, b: 1e30 } });
});
