import type { Context } from '../benchmark.ts';
import { type Load, type Played, playLoad } from '../load.ts';
import { NATIVE } from '../protocols.ts';
import { interleaved } from '../rounds.ts';
import type { Measured, Round } from '../row.ts';
import type { Server } from '../servers.ts';

/**
 * Streams of 200 tokens, all at once, in the formats of OpenAI, in short turns with the native stream: other load on
 * the host affects all of them.
 */

const CONNECTIONS = 64;
const TURNS = 8;
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

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** All turns together: the CPU time of a process has a resolution of 10 ms. */
const together = (played: readonly Played[]): Pick<Played, 'cost' | 'rate' | 'granted'> => {
  const streams = sum(played.map(({ report }) => report.streams));
  const cost = sum(played.map(({ cost: each, report }) => each * report.streams)) / streams;
  const mean = (of: 'rate' | 'granted'): number => sum(played.map((each) => each[of])) / played.length;
  return { cost, rate: mean('rate'), granted: mean('granted') };
};

const besideNative = (mine: readonly Played[], native: readonly Played[]): Round => {
  const [own, theirs] = [together(mine), together(native)];
  return { value: own.cost, baseline: theirs.cost, rates: [own.rate, theirs.rate] };
};

export const measureStreams = async (context: Context, server: Server): Promise<Measured[]> => {
  const connections = context.short ? 2 : CONNECTIONS;
  const play = (load: Load) => (): Promise<Played> =>
    playLoad(server, { ...load, connections, duration_ms: context.roundMs(1000) });
  if (!context.short) {
    for (const load of [NATIVE, CHAT, RESPONSE])
      await playLoad(server, { ...load, connections, streams: WARM });
  }
  const { native, chat, response } = await interleaved(context.short ? 1 : TURNS, {
    native: play(NATIVE),
    chat: play(CHAT),
    response: play(RESPONSE),
  });
  const row = (metric: string, mine: readonly Played[]): Measured => ({
    metric,
    unit: 'ms of CPU',
    baseline: BASELINE,
    aim: { of: 'ratio', most: 1.1 },
    rounds: [besideNative(mine, native)],
  });
  context.note('the contract allows a ratio of 1.11 for a chat completion and of 1.35 for a response');
  return [row('a stream of a chat completion', chat), row('a stream of a response', response)];
};
