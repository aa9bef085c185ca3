import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import t, { type Test } from 'tap';
import { asks } from '../service/models.ts';
import { withTools } from '../service/suspended.ts';
import { eventually, type Troupe } from '../service/troupe.ts';

/** Agents as tools of the official MCP clients: both SDKs, with and without sessions. */

type Calls = {
  version(): string | undefined;
  tools(): Promise<string[]>;
  call(message: string, agent: string, more?: Options): Promise<unknown>;
};

type Options = { signal?: AbortSignal; onprogress?: (progress: { progress: number }) => void };

const INFO = { name: 'official', version: '1.0.0' };
const CAPABILITIES = { elicitation: { form: {} } };

/** Approves every request. */
const YES = { action: 'accept' as const, content: { approve: true } };

const first = async (t: Test, url: URL): Promise<Calls> => {
  const client = new FirstClient(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(ElicitRequestSchema, () => YES);
  const transport = new FirstTransport(url);
  // The SDK types an optional member more loosely than its interface.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  t.teardown(async () => {
    await transport.terminateSession();
    await client.close();
  });
  return {
    version: () => transport.protocolVersion,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (message, name, options) =>
      client.callTool({ name, arguments: { message } }, CallToolResultSchema, options),
  };
};

const second =
  (mode: 'legacy' | 'auto') =>
  async (t: Test, url: URL): Promise<Calls> => {
    const client = new Client(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
    client.setRequestHandler('elicitation/create', () => YES);
    const transport = new StreamableHTTPClientTransport(url);
    await client.connect(transport);
    t.teardown(async () => {
      await transport.terminateSession();
      await client.close();
    });
    return {
      version: () => client.getNegotiatedProtocolVersion(),
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: (message, name, options) => client.callTool({ name, arguments: { message } }, options),
    };
  };

const CLIENTS = [
  ['the first SDK', first, '2025-11-25'],
  ['the second SDK in a session', second('legacy'), '2025-11-25'],
  ['the second SDK without one', second('auto'), '2026-07-28'],
] as const;

const lastRunOf = async ({ call }: Troupe, agent: string) => {
  const { body } = await call('GET', '/v1/runs');
  const runs = body.items as { agent_id: string; status: string; termination_reason?: { type: string } }[];
  return runs.find(({ agent_id }) => agent_id === agent);
};

for (const [name, connect, version] of CLIENTS) {
  t.test(`${name} calls agents, receives progress, answers requests and cancels calls`, async (t) => {
    const { troupe, tools } = await withTools(t);
    const client = await connect(t, new URL('/v1/mcp', troupe.url));
    t.equal(client.version(), version);
    t.strictSame(await client.tools(), ['default', 'echo', 'flaky', 'slow', 'steps']);

    const told: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => void told.push(progress);
    t.match(await client.call('hello', 'echo', { onprogress }), {
      content: [{ type: 'text', text: 'echo: hello' }],
      isError: false,
    });
    t.ok(told.length > 0);

    troupe.models.steps.push(asks(['c1', 'risky']));
    t.match(await client.call('go', 'steps'), { isError: false });
    t.strictSame(tools.executed, ['c1'], 'the client was asked, and accepted');

    const cancelling = new AbortController();
    const cancelled = client.call('wait', 'slow', { signal: cancelling.signal });
    await eventually(
      async () => troupe.models.waiting(),
      (count) => count === 1,
    );
    cancelling.abort();
    await t.rejects(cancelled);
    const run = await eventually(
      () => lastRunOf(troupe, 'slow'),
      (found) => found?.status === 'done',
    );
    t.match(run, { termination_reason: { type: 'cancelled' } });
  });
}
