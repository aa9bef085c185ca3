import { createRunBody } from '../src/load-generator/index.ts';
import type { Benchmark } from './benchmark.ts';
import { BenchError } from './error.ts';
import { besideRound, type Load, type Played, playLoad } from './load.ts';
import type { Measured } from './row.ts';
import { type Server, startTroupe } from './servers.ts';

/**
 * The same durable runs of 200 tokens in each protocol of one server: CPU time of the server per stream, with the
 * native stream as the baseline, and rates. Further protocols are further rows of `PROTOCOLS`.
 */

const TOKENS = 200;

const chatBody = JSON.stringify({
  agentId: 'bench',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Go.' }] }],
});

let sent = 0;

/** A new message id per request: a repeated one would return the existing task. */
const a2aBody = (): string => {
  sent += 1;
  const messageId = `message-${sent}`;
  return JSON.stringify({ message: { messageId, role: 'ROLE_USER', parts: [{ text: 'Go.' }] } });
};

type Protocol = Required<Pick<Load, 'path' | 'body' | 'first' | 'terminal'>> & {
  /** Headers of every request, if the server assigns them. */
  headersOf?: (server: Server) => Promise<Record<string, string>>;
};

/** Converts a protocol to a load on this server. */
export const loadIn = async (server: Server, { headersOf, ...load }: Protocol) => ({
  ...load,
  ...(headersOf && { headers: await headersOf(server) }),
});

let calls = 0;

/** Concurrent requests of one session need unique ids. */
const callBody = (): string => {
  calls += 1;
  const params = { name: 'bench', arguments: { message: 'Go.' } };
  return JSON.stringify({ jsonrpc: '2.0', id: calls, method: 'tools/call', params });
};

export const mcpSession = async ({ name, url }: Server): Promise<Record<string, string>> => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize' });
  const { headers } = await fetch(`${url}/v1/mcp`, { method: 'POST', body });
  const session = headers.get('mcp-session-id');
  if (session === null) throw new BenchError(`${name} gave no MCP session`);
  return { 'mcp-session-id': session };
};

export const NATIVE: Protocol = {
  path: '/v1/runs',
  body: createRunBody('bench'),
  first: '"text_delta"',
  terminal: '"run_finish"',
};

export const PROTOCOLS: Record<string, Protocol> = {
  'chat v6': {
    path: '/v1/ai-sdk/chat',
    body: () => chatBody,
    first: '"text-delta"',
    terminal: '"finishReason"',
  },
  'AG-UI': {
    path: '/v1/ag-ui/run',
    body: createRunBody('bench'),
    first: '"TEXT_MESSAGE_CONTENT"',
    terminal: '"RUN_FINISHED"',
  },
  // It joins the tokens of an event-loop tick in one frame.
  A2A: {
    path: '/v1/a2a/bench/message:stream',
    body: a2aBody,
    first: '"artifactUpdate"',
    terminal: '"TASK_STATE_COMPLETED"',
  },
  // A call of the agent; the result contains its whole text, after progress notifications.
  MCP: {
    path: '/v1/mcp',
    headersOf: mcpSession,
    body: callBody,
    first: '"notifications/message"',
    terminal: '"isError"',
  },
};

/** Protocols that send one frame per token have an aim. */
const AIMED = new Set(['chat v6', 'AG-UI']);

const NATIVE_STREAM = 'the native stream';

const nativeRow = ({ cost, rate, share, p50, p99 }: Played): Measured => ({
  metric: 'a native stream',
  unit: 'ms of CPU',
  rounds: [{ value: cost, rates: [rate], shares: { Troupe: share }, p50, p99 }],
});

const rowOf = (name: string, mine: Played, native: Played): Measured => ({
  metric: `a stream in ${name}`,
  unit: 'ms of CPU',
  baseline: NATIVE_STREAM,
  ...(AIMED.has(name) && { aim: { of: 'ratio', most: 1.11 } }),
  rounds: [besideRound(mine, native, NATIVE_STREAM)],
});

export const protocols: Benchmark = {
  name: 'protocols',
  title: `protocols: durable runs of ${TOKENS} tokens against the native stream; p50 and p99 are ms for a stream`,
  async run(context) {
    const server = await startTroupe(context);
    const connections = context.short ? 2 : 64;
    const measure = async (duration_ms: number): Promise<Measured[]> => {
      const native = await playLoad(server, { ...NATIVE, duration_ms, connections });
      const rows = [nativeRow(native)];
      for (const [name, protocol] of Object.entries(PROTOCOLS)) {
        const load = await loadIn(server, protocol);
        rows.push(rowOf(name, await playLoad(server, { ...load, duration_ms, connections }), native));
      }
      return rows;
    };
    try {
      if (!context.short) await measure(1500);
      return await measure(context.roundMs(4000));
    } finally {
      await server.process.stop();
    }
  },
};
