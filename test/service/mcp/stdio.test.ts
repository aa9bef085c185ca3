import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { ADMIN_TOKEN, eventually, startTroupe, type TroupeOptions } from '../troupe.ts';
import { type Rpc, rpc, text } from './mcp.ts';

/** The server over a pair of pipes: mcp.md A11. */

const piped = async (t: Test, options: TroupeOptions = {}) => {
  const troupe = await startTroupe(t, options);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = troupe.app.serveMcp({ input, output });
  let rest = '';
  const lines: Rpc[] = [];
  output.on('data', (chunk) => {
    rest += chunk;
    const whole = rest.split('\n');
    rest = whole.pop() ?? '';
    lines.push(...whole.map((line) => JSON.parse(line)));
  });
  const say = (message: unknown): void => {
    input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  };
  const next = async (): Promise<Rpc> => {
    await eventually(
      async () => lines.length,
      (count) => count > 0,
    );
    return lines.shift() ?? {};
  };
  return { troupe, input, served, say, next, lines };
};

t.test('calls agents over pipes, with notifications on the same output', async (t) => {
  const { say, next, input, served, lines } = await piped(t);
  say(rpc(1, 'initialize', { protocolVersion: '2025-06-18' }));
  t.match(await next(), {
    id: 1,
    result: { protocolVersion: '2025-06-18', serverInfo: { name: 'troupe-mcp' } },
  });
  say({ jsonrpc: '2.0', method: 'notifications/initialized' });
  say('');
  say(rpc(2, 'tools/list'));
  t.match(await next(), { id: 2, result: { tools: [{ name: 'default' }, { name: 'echo' }] } });
  say(rpc('c', 'tools/call', { name: 'echo', arguments: { message: 'Hi' } }));
  t.match(await next(), { method: 'notifications/message', params: { data: 'starting agent run' } });
  await eventually(
    async () => lines,
    (all) => all.some(({ id }) => id === 'c'),
  );
  t.equal(text(lines.at(-1) ?? {}), 'echo: Hi');
  lines.length = 0;
  say(rpc(3, 'initialize'));
  t.match(await next(), { id: 3, error: { code: -32600 } });
  say(rpc(4, 'no/such'));
  t.match(await next(), { id: 4, error: { code: -32601, message: 'Method not found: no/such' } });
  input.end();
  await served;
});

t.test('requires initialize first', async (t) => {
  const { say, next } = await piped(t);
  say(rpc(1, 'ping'));
  t.strictSame(await next(), { jsonrpc: '2.0', id: 1, result: {} });
  say(rpc('x', 'tools/list'));
  t.match(await next(), {
    id: 'x',
    error: { code: -32600, message: 'initialize must be the first request in an MCP stdio session' },
  });
  say({ jsonrpc: '2.0', method: 'notifications/initialized' });
  t.match(await next(), {
    id: null,
    error: { code: -32600, message: 'received notifications/initialized before initialize' },
  });
  say({ jsonrpc: '2.0', method: 'notifications/other' });
  say({ jsonrpc: '2.0', id: 1, result: {} });
  say(rpc(2, 'initialize'));
  t.match(await next(), { id: 2, result: { protocolVersion: '2025-11-25' } });
});

t.test('rejects an invalid line with a JSON-RPC error', async (t) => {
  const { say, next } = await piped(t);
  say('{');
  t.match(await next(), { id: null, error: { code: -32700, message: /^parse error: ./ } });
  for (const line of ['[]', '7', 'null', '"x"']) {
    say(line);
    t.match(await next(), {
      id: null,
      error: { code: -32600, message: 'expected a single JSON-RPC object' },
    });
  }
  say({ id: 5, method: 'ping' });
  t.match(await next(), { id: 5, error: { code: -32600 } });
});

t.test('finishes pending calls at the end of the input', async (t) => {
  const { troupe, say, next, input, served, lines } = await piped(t);
  say(rpc(1, 'initialize'));
  await next();
  say(rpc(2, 'tools/call', { name: 'slow', arguments: { message: 'x' } }));
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 1,
  );
  input.end();
  troupe.models.releaseAll();
  await served;
  await eventually(
    async () => lines.at(-1),
    (last) => last?.id === 2,
  );
  t.equal(text(lines.at(-1) ?? {}), 'partial answer');
});

t.test('cancels a call, announces a new agent, and ends when the service stops', async (t) => {
  const { troupe, say, next, served, lines } = await piped(t);
  say(rpc(1, 'initialize'));
  await next();
  say(rpc(2, 'tools/call', { name: 'slow', arguments: { message: 'x' } }));
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 1,
  );
  say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 0,
  );
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  await troupe.call('POST', '/v1/config/agents', { id: 'fresh', model_id: 'echo' }, headers);
  await eventually(
    async () => lines,
    (all) => all.some(({ method }) => method === 'notifications/tools/list_changed'),
  );
  t.notOk(lines.some(({ id }) => id === 2));
  await troupe.restart();
  await served;
});

t.test('rejects an inexact integer under the id of its request', async (t) => {
  const { say, next } = await piped(t);
  say('{"jsonrpc":"2.0","id":5,"method":"ping","params":{"at":1234567890123456789}}');
  t.match(await next(), {
    id: 5,
    error: { code: -32602, message: /^params\.at: the integer 1234567890123456789 cannot be kept exactly/ },
  });
});
