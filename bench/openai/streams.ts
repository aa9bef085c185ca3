import { randomFrom } from '../../src/load-generator/random.ts';
import type { Context } from '../benchmark.ts';
import { type Load, playLoad } from '../load.ts';
import { NATIVE } from '../protocols.ts';
import { interleaved, median, ratioInterval } from '../rounds.ts';
import type { Measured } from '../row.ts';
import type { Server } from '../servers.ts';
import { threadsRan } from '../usage.ts';

/**
 * Streams of 200 tokens, all at once, in the formats of OpenAI, compared with the native stream of the same process.
 *
 * Short blocks of the three alternate in random order, so that neither other load on the host nor the garbage of the
 * previous block favors one of them. The figure is the CPU time of all threads of the server. Blocks are added until
 * the confidence interval of both ratios is narrow.
 */

const CONNECTIONS = 64;
/** Blocks of each kind between two looks at the interval. */
const GROUP = 20;
const LEAST_BLOCKS = 40;
/** On a busy host, the interval may still be wider. */
const MOST_BLOCKS = 120;
/** Width of the interval that resolves a difference of 2 %. */
const NARROW = 0.02;
/** Streams of a block: enough for several collections of the young generation. */
const STREAMS = 256;
/** Streams of each kind before the measurement: their code is optimized by then, however slow the host is. */
const WARM = 2000;

const chatBody = JSON.stringify({
  model: 'bench',
  stream: true,
  messages: [{ role: 'user', content: 'Go.' }],
});

const responseBody = JSON.stringify({ model: 'bench', stream: true, input: 'Go.' });

const CHAT: Load = {
  path: '/v1/chat/completions',
  body: () => chatBody,
  first: '"content":"token',
  terminal: '[DONE]',
};

const RESPONSE: Load = {
  path: '/v1/responses',
  body: () => responseBody,
  first: '"response.output_text.delta"',
  terminal: '[DONE]',
};

const BASELINE = 'the native stream';

/** A block with a collection of the whole heap costs more than others: the mean includes it, the median does not. */
const mean = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0) / values.length;

/** Milliseconds of CPU time of the server for a stream, one for each block. */
type Costs = { native: readonly number[]; chat: readonly number[]; response: readonly number[] };

const measureBlocks = async (context: Context, server: Server, connections: number): Promise<Costs> => {
  const streams = context.short ? connections : STREAMS;
  const { pid } = server.process;
  const block = (load: Load) => async (): Promise<number> => {
    const before = threadsRan(pid);
    const { report } = await playLoad(server, { ...load, connections, streams });
    return (threadsRan(pid) - before) / report.streams;
  };
  const variants = { native: block(NATIVE), chat: block(CHAT), response: block(RESPONSE) };
  const random = randomFrom(1);
  let costs: Costs = { native: [], chat: [], response: [] };
  do {
    const { native, chat, response } = await interleaved(context.short ? 1 : GROUP, variants, random);
    costs = {
      native: [...costs.native, ...native],
      chat: [...costs.chat, ...chat],
      response: [...costs.response, ...response],
    };
  } while (!context.short && !isEnough(costs));
  return costs;
};

const isEnough = ({ native, chat, response }: Costs): boolean => {
  if (native.length < LEAST_BLOCKS) return false;
  const widths = [chat, response].map((mine) => {
    const [low, high] = ratioInterval(mine, native);
    return high - low;
  });
  return native.length >= MOST_BLOCKS || Math.max(...widths) <= NARROW;
};

export const measureStreams = async (context: Context, server: Server): Promise<Measured[]> => {
  const connections = context.short ? 2 : CONNECTIONS;
  if (!context.short) {
    for (const load of [NATIVE, CHAT, RESPONSE])
      await playLoad(server, { ...load, connections, streams: WARM });
  }
  const { native, chat, response } = await measureBlocks(context, server, connections);
  const row = (metric: string, mine: readonly number[]): Measured => {
    context.note(
      `${metric}: blocks of each kind: ${native.length}, ratio of the means ${(mean(mine) / mean(native)).toFixed(3)}`,
    );
    return {
      metric,
      unit: 'ms of CPU',
      baseline: BASELINE,
      aim: { of: 'ratio', most: 1.1 },
      rounds: [{ value: median(mine), baseline: median(native), interval: ratioInterval(mine, native) }],
    };
  };
  context.note('the contract allows a ratio of 1.11 for a chat completion and of 1.35 for a response');
  return [row('a stream of a chat completion', chat), row('a stream of a response', response)];
};
