import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import t, { type Test } from 'tap';
import { http, manage } from './manage.ts';

/** Servers of the revision without sessions (mcp.md C5), built with the official library. */

const startModern = async (t: Test) => {
  const asked: { method: string | undefined; headers: Record<string, unknown> }[] = [];
  const aborted: string[] = [];
  const handler = createMcpHandler(
    () => {
      const server = new Server({ name: 'modern', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler('tools/list', () => ({
        tools: [
          { name: 'echo', inputSchema: { type: 'object' } },
          { name: 'hang', inputSchema: { type: 'object' } },
        ],
      }));
      server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
        if (params.name === 'hang') {
          await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve));
          aborted.push('hang');
        }
        return { content: [{ type: 'text', text: JSON.stringify(params.arguments) }] };
      });
      return server;
    },
    { legacy: 'reject' },
  );
  const server = createServer(async (request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const body = await buffer(request);
    const headers = request.headers as Record<string, string>;
    asked.push({ method: body.length > 0 ? JSON.parse(body.toString()).method : request.method, headers });
    const answer = await handler.fetch(
      new Request(`http://${headers.host}${request.url}`, {
        method: request.method ?? 'GET',
        headers,
        signal: gone.signal,
        ...(body.length > 0 && { body }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.flushHeaders();
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  // The server is listening on a port.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, asked, aborted };
};

t.test('offers the newest revision first, and calls tools without a session', async (t) => {
  const { url, asked, aborted } = await startModern(t);
  const { start, call, manager } = manage(t);
  const status = await start(http('m', url));
  t.strictSame(
    status.tools.map(({ name }) => name),
    ['echo', 'hang'],
  );
  t.match(await call('m', 'echo', { a: 'ä' }), { status: 'success', data: '{"a":"ä"}' });
  t.strictSame(
    asked.map(({ method }) => method),
    ['server/discover', 'tools/list', 'tools/call'],
  );
  t.match(asked.at(-1)?.headers, {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'echo',
  });
  const run = new AbortController();
  const hanging = call('m', 'hang', {}, { signal: run.signal });
  while (asked.length < 4) await new Promise((resolve) => setTimeout(resolve, 5));
  run.abort();
  t.match(await hanging, { status: 'error', message: /^Cancelled: / });
  while (aborted.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  t.equal(asked.length, 4, 'closing the stream cancels the call without another request');
  await manager.close();
  t.equal(asked.length, 4);
});
