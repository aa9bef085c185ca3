import t from 'tap';
import { z } from 'zod';
import { createLog } from '../../../src/observability/log.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { ToolError } from '../../../src/tools/tool.ts';
import { startPeer } from '../../mcp/http-peer.ts';
import { chatChunk, sendEvents, startSseServer } from '../../models/sse-server.ts';
import { idsOf, provider, startPlane } from './plane.ts';

/** Peers echo the keys that they receive; no reader of the service sees any of them. */

const canary = (place: string): string => `canary-${place}-0123456789abcdef`;

t.test('removes echoed keys from streams, records, events, tasks, traces and logs', async (t) => {
  let log = '';
  const destination = {
    write(line: string) {
      log += line;
    },
  };
  const refusing = await startSseServer(t, (response, { headers }) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ detail: `REASON: bad key ${headers.authorization?.slice(7)}` }));
  });
  const calls = ['mcp__peer__fails', 'throws', 'breaks'];
  const calling = await startSseServer(t, (response, { body }) => {
    const hasResults = body.includes('"role":"tool"');
    const tool_calls = calls.map((name, index) => ({
      index,
      id: `c${index}`,
      type: 'function',
      function: { name, arguments: '{}' },
    }));
    sendEvents(
      response,
      hasResults
        ? [chatChunk({ content: 'done' }), chatChunk({}, 'stop')]
        : [chatChunk({ role: 'assistant', tool_calls }), chatChunk({}, 'tool_calls')],
    );
    response.end('data: [DONE]\n\n');
  });
  const remote = await startSseServer(t, (response, { headers }) => {
    response.writeHead(403, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: `REASON: not with ${headers.authorization}` } }));
  });
  const peer = await startPeer(t, {
    'tools/list': ({ result }) => result({ tools: [{ name: 'fails', inputSchema: { type: 'object' } }] }),
    'tools/call': ({ result, headers }) =>
      result({ isError: true, content: [{ type: 'text', text: `REASON: bad ${headers['x-key']}` }] }),
  });
  const input = z.object({});
  const tools = [
    defineTool({
      id: 'throws',
      description: 'Repeats a key of another peer.',
      input,
      execute: () => {
        throw new ToolError('execution_failed', `REASON: ${canary('refusing')}`);
      },
    }),
    defineTool({
      id: 'breaks',
      description: 'Repeats a key of another peer.',
      input,
      execute: () => {
        throw new Error(`REASON: ${canary('env')}`);
      },
    }),
  ];
  const { troupe, get, post } = await startPlane(t, {
    settings: {
      observe_all_agents: true,
      trace: { sampling_disable: true, capture_tool_io: 'arguments_and_results' },
      AdminApiConfig: { bearer_token: 'admin-token-of-the-tests', expose_trace_routes: true },
    },
    app: {
      tools,
      env: { GROQ_API_KEY: canary('env') },
      log: createLog({ level: 'trace', destination }),
    },
  });
  const put = async (namespace: string, body: object) =>
    t.equal((await post(`/v1/config/${namespace}`, body)).status, 201, JSON.stringify(body));
  const sections = { retry: { max_retries: 0, backoff_base_ms: 1, max_stream_retries: 0 } };
  await put('providers', provider('refusing', { api_key: canary('refusing'), base_url: refusing.url }));
  await put('providers', provider('calling', { api_key: canary('calling'), base_url: calling.url }));
  for (const id of ['refusing', 'calling']) await put('models', { id, provider_id: id, upstream_model: 'm' });
  await put('mcp-servers', {
    id: 'peer',
    transport: 'http',
    url: peer.url,
    config: { headers: { 'x-key': canary('mcp') } },
  });
  await put('agents', { id: 'refused', model_id: 'refusing', sections });
  await put('agents', { id: 'caller', model_id: 'calling', sections, allowed_tools: calls });
  await put('agents', {
    id: 'far',
    endpoint: { base_url: remote.url, auth: { type: 'bearer', token: canary('a2a') } },
  });

  const said: string[] = [];
  for (const agentId of ['refused', 'caller', 'far']) {
    const events = await troupe.runToEnd({
      agentId,
      threadId: `of-${agentId}`,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    said.push(JSON.stringify(events));
    t.match(said.at(-1), 'REASON', `${agentId}: the reason is shown`);
    const runId = String(events[0]?.run_id);
    for (const path of [
      `/v1/runs/${runId}`,
      `/v1/runs/${runId}/events`,
      `/v1/threads/of-${agentId}/events`,
      `/v1/threads/of-${agentId}/messages`,
      // A remote agent has no local inference to trace.
      ...(agentId === 'far' ? [] : [`/v1/traces/${runId}`]),
    ]) {
      const { status, body } = await get(path);
      t.equal(status, 200, path);
      said.push(JSON.stringify(body));
    }
    const task = await troupe.call('GET', `/v1/a2a/tasks/${runId}`, undefined, { 'A2A-Version': '1.0' });
    said.push(JSON.stringify(task.body));
  }
  for (const path of ['/v1/mcp-servers/peer/status', '/v1/audit-log?limit=1000', '/metrics'])
    said.push(JSON.stringify((await get(path)).body));
  await troupe.app.stop();
  t.match(log, 'REASON', "the operator's log contains the reason");
  t.strictSame(
    [...said, ...log.split('\n')].filter((text) => text.includes('canary-')),
    [],
  );
  await troupe.restart();
});

t.test('does not send the current key to the address of a restored older entry', async (t) => {
  const [older, newer] = [await startSseServer(t, (r) => r.end()), await startSseServer(t, (r) => r.end())];
  const { get, post, put } = await startPlane(t);
  const at = (base_url: string, more: object = {}) => ({ id: 'p', adapter: 'groq', base_url, ...more });
  await post('/v1/config/providers', at(older.url, { api_key: 'key-of-the-older' }));
  await put('/v1/config/providers/p', at(newer.url, { api_key: 'key-of-the-newer' }));
  const [latest, first] = idsOf((await get('/v1/audit-log?resource=providers/p')).body.items);
  t.match(await post('/v1/config/providers/p/restore', { version: latest }), {
    status: 200,
    body: { has_api_key: true },
  });
  t.match(await put('/v1/config/providers/p', at(older.url)), {
    status: 400,
    body: { error: /^invalid payload: field 'api_key' must be given again/ },
  });
  t.match(await post('/v1/config/providers/validate?id=p', at(older.url)), { status: 400 });
  t.match(await put('/v1/config/providers/p', at(newer.url, { timeout_secs: 3 })), {
    status: 200,
    body: { has_api_key: true },
  });
  t.match(await put('/v1/config/providers/p', at(older.url, { api_key: 'key-of-the-older' })), {
    status: 200,
  });
  await put('/v1/config/providers/p', at(newer.url, { api_key: 'key-of-the-newer' }));
  t.match(await post('/v1/config/providers/p/restore', { version: first }), {
    status: 200,
    body: { base_url: older.url, has_api_key: undefined },
  });
  t.strictSame([...older.requests, ...newer.requests], [], 'no request was sent');
});
