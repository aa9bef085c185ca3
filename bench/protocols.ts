import { runOf } from '../src/load/index.ts';
import type { Benchmark } from './benchmark.ts';
import { BenchError } from './error.ts';
import { besideRound, type Load, type Played, playLoad } from './load.ts';
import type { Measured } from './row.ts';
import { type Server, startTroupe } from './servers.ts';

/**
 * The same durable runs, 200 tokens each, asked for in each protocol of one server: processor time of the server a
 * stream, beside the native stream; rates beside it. A further protocol is a further row of `PROTOCOLS`.
 */

const TOKENS = 200;

const chatBody = JSON.stringify({
  agentId: 'bench',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Go.' }] }],
});

let sent = 0;

/** A message that was sent before would be answered with its task. */
const a2aBody = (): string => {
  sent += 1;
  const messageId = `message-${sent}`;
  return JSON.stringify({ message: { messageId, role: 'ROLE_USER', parts: [{ text: 'Go.' }] } });
};

type Protocol = Required<Pick<Load, 'path' | 'body' | 'first' | 'terminal'>> & {
  /** What every request carries, where a server gives it out. */
  headersOf?: (server: Server) => Promise<Record<string, string>>;
};

/** A protocol as a load on this server. */
export const loadIn = async (server: Server, { headersOf, ...load }: Protocol) => ({
  ...load,
  ...(headersOf && { headers: await headersOf(server) }),
});

let calls = 0;

/** Requests of one session that are under way have ids of their own. */
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
  body: runOf('bench'),
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
    body: runOf('bench'),
    first: '"TEXT_MESSAGE_CONTENT"',
    terminal: '"RUN_FINISHED"',
  },
  // It joins the tokens of a turn in one frame.
  A2A: {
    path: '/v1/a2a/bench/message:stream',
    body: a2aBody,
    first: '"artifactUpdate"',
    terminal: '"TASK_STATE_COMPLETED"',
  },
  // A call of the agent; all of its text is in the answer, before which it is told how far the run is.
  MCP: {
    path: '/v1/mcp',
    headersOf: mcpSession,
    body: callBody,
    first: '"notifications/message"',
    terminal: '"isError"',
  },
};

/** The aim that the protocols have whose frames are the tokens. */
const AIMED = new Set(['chat v6', 'AG-UI']);

const NATIVE_STREAM = 'the native stream';

const nativeRow = ({ cost, rate, share, p50, p99 }: Played): Measured => ({
  metric: 'a native stream',
  unit: 'ms of processor',
  rounds: [{ value: cost, rates: [rate], shares: { Troupe: share }, p50, p99 }],
});

const rowOf = (name: string, mine: Played, native: Played): Measured => ({
  metric: `a stream in ${name}`,
  unit: 'ms of processor',
  baseline: NATIVE_STREAM,
  ...(AIMED.has(name) && { aim: { of: 'ratio', most: 1.11 } }),
  rounds: [besideRound(mine, native, NATIVE_STREAM)],
});

export const protocols: Benchmark = {
  name: 'protocols',
  title: `protocols: durable runs of ${TOKENS} tokens beside the native stream; p50 and p99 are ms for a stream`,
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
