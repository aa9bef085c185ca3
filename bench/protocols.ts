import { runOf } from '../src/load/index.ts';
import type { Benchmark } from './benchmark.ts';
import { besideRound, type Load, type Played, playLoad } from './load.ts';
import type { Measured } from './row.ts';
import { startTroupe } from './servers.ts';

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

type Protocol = Required<Pick<Load, 'path' | 'body' | 'first' | 'terminal'>>;

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
};

/** The aim that the protocols have whose frames are the tokens. */
const AIMED = new Set(['chat v6', 'AG-UI']);

const NATIVE_STREAM = 'the native stream';

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
      const rows: Measured[] = [];
      for (const [name, protocol] of Object.entries(PROTOCOLS)) {
        rows.push(rowOf(name, await playLoad(server, { ...protocol, duration_ms, connections }), native));
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
