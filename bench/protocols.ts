import { runLoad, runOf } from '../src/load/index.ts';
import type { Benchmark, Row } from './result.ts';
import { interleaved, median, ratioOf } from './rounds.ts';
import { type Server, startTroupe } from './servers.ts';
import { processorSeconds } from './usage.ts';

/**
 * The same durable runs, 200 tokens each, asked for in each protocol of one server: streams a second, and the
 * processor time of the server for a token, beside the native stream.
 */

const TOKENS = 200;

const chatBody = JSON.stringify({
  agentId: 'bench',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Go.' }] }],
});

const PROTOCOLS = {
  native: { path: '/v1/runs', body: runOf('bench') },
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
};

type Protocol = keyof typeof PROTOCOLS;

type Load = { duration_ms: number; connections: number };

type Round = { rate: number; p50: number; p99: number; cost: number };

const play = async (server: Server, protocol: Protocol, load: Load): Promise<Round> => {
  const { path, ...options } = PROTOCOLS[protocol];
  const before = processorSeconds(server.process.pid) ?? Number.NaN;
  const report = await runLoad({ url: server.url + path, ...load, ...options });
  const failures = Object.entries(report.errors);
  if (failures.length > 0) throw new Error(`${path}: ${failures.map((each) => each.join(': ')).join(', ')}`);
  const used = (processorSeconds(server.process.pid) ?? Number.NaN) - before;
  const { p50, p99 } = report.latency_ms;
  return { rate: report.streams_per_second, p50, p99, cost: (used * 1e6) / report.streams / TOKENS };
};

const rowsOf = (name: Protocol, mine: readonly Round[], native: readonly Round[]): Row[] => {
  const of = (rounds: readonly Round[], figure: keyof Round): number[] => rounds.map((each) => each[figure]);
  const row = (metric: string, unit: string, figure: 'rate' | 'cost', target?: string): Row => ({
    metric: `${name}: ${metric}`,
    unit,
    troupe: median(of(mine, figure)),
    baseline: median(of(native, figure)),
    ratio: ratioOf(of(mine, figure), of(native, figure)),
    p50: median(of(mine, 'p50')),
    p99: median(of(mine, 'p99')),
    ...(target !== undefined && { target }),
  });
  return [
    row('streams', 'streams/s', 'rate', name === 'chat v6' ? 'ratio at least 0.8' : undefined),
    row('processor time a token', 'µs', 'cost'),
  ];
};

export const protocols: Benchmark = {
  name: 'protocols',
  title: `protocols: durable runs of ${TOKENS} tokens beside the native stream; p50 and p99 are ms for a stream`,
  async run(context) {
    const server = await startTroupe(context, 'process');
    const [warmUp, load] = context.short
      ? [undefined, { duration_ms: 200, connections: 8 }]
      : [
          { duration_ms: 1500, connections: 64 },
          { duration_ms: 4000, connections: 64 },
        ];
    const measure = (rounds: number, of: Load) =>
      interleaved(rounds, {
        native: () => play(server, 'native', of),
        'chat v6': () => play(server, 'chat v6', of),
        'AG-UI': () => play(server, 'AG-UI', of),
      });
    try {
      if (warmUp) await measure(1, warmUp);
      const { native, ...others } = await measure(context.short ? 1 : 5, load);
      return [...rowsOf('chat v6', others['chat v6'], native), ...rowsOf('AG-UI', others['AG-UI'], native)];
    } finally {
      await server.process.stop();
    }
  },
};
