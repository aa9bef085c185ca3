import { createRunBody } from '../../src/load-generator/index.ts';
import type { Context } from '../benchmark.ts';
import { createGcTrace } from '../gc-trace.ts';
import { type Load, playLoad } from '../load.ts';
import { groupOf, listModules } from '../modules.ts';
import type { Measured } from '../row.ts';
import { readFrames, type Server } from '../servers.ts';
import { TOKENS } from '../upstream/answer.ts';
import { inspect, inspectedFlags } from './inspected.ts';
import { LOADS, startWithProvider, type UpstreamServer } from './peers.ts';

/** Allocation per chunk, and the modules that a service loads before its first request to a provider. */

const CLIENTS = 32;
const KB = 1000;

/**
 * The young generation is small here, so that there are many collections, each of which reports the preceding
 * allocation.
 */
const GC_FLAGS = ['--trace-gc-nvp', '--min-semi-space-size=1', '--max-semi-space-size=1'];

async function measureAllocation(context: Context, upstream: UpstreamServer): Promise<Measured> {
  let allocated = 0;
  const trace = createGcTrace(({ figure }) => {
    allocated += figure('allocated');
  });
  const server = await startWithProvider(context, upstream, { nodeArguments: GC_FLAGS, hear: trace.hear });
  const load: Load = { connections: context.short ? 2 : CLIENTS };
  const bytesPerRun = async (kind: Load): Promise<number> => {
    if (!context.short) await playLoad(server, { ...load, ...kind, duration_ms: 1500 });
    const before = allocated;
    const { report } = await playLoad(server, { ...load, ...kind, duration_ms: context.roundMs(3000) });
    return (allocated - before) / report.streams;
  };
  try {
    const mine = await bytesPerRun(LOADS.troupe('openai-chat', 'turns'));
    const scripted = await bytesPerRun({ body: createRunBody('bench-turns') });
    context.note(
      `allocated on the heap for a run, one chunk a tick: ${Math.round(mine / KB)} KB through a provider, ` +
        `${Math.round(scripted / KB)} KB with the scripted model`,
    );
    return {
      metric: 'allocation of a chunk on the heap, less that of a scripted one',
      unit: 'KB',
      aim: { of: 'value', most: 1 },
      rounds: [{ value: (mine - scripted) / TOKENS / KB }],
    };
  } finally {
    await server.process.stop();
  }
}

/** True for modules that only a provider needs. */
const isOfProvider = (path: string): boolean =>
  /^src\/models\/(?:transport|wire)\//.test(path) ||
  /^(?:@ai-sdk\/.+|@smithy\/.+|aws4fetch|undici)$/.test(groupOf(path));

async function providerModules(server: Server): Promise<string[]> {
  // The program responds to this question with the addresses of all scripts.
  const urls = (await inspect(server, 'modules')) as string[];
  return urls.flatMap((url) => [...listModules(url), url]).filter(isOfProvider);
}

async function measureModules(context: Context, upstream: UpstreamServer): Promise<Measured> {
  const server = await startWithProvider(context, upstream, inspectedFlags(context));
  try {
    const before = await providerModules(server);
    await readFrames(server, LOADS.troupe('openai-chat', 'burst').body?.(0) ?? '');
    const after = await providerModules(server);
    if (before.length > 0) context.note(`modules of providers after the start: ${before.join(', ')}`);
    context.note(`modules of providers after the first run: ${after.length}`);
    return {
      metric: 'modules of providers loaded before their first use',
      unit: 'modules',
      aim: { of: 'value', most: 0 },
      rounds: [{ value: before.length }],
    };
  } finally {
    await server.process.stop();
  }
}

export async function measureFootprint(context: Context, upstream: UpstreamServer): Promise<Measured[]> {
  return [await measureAllocation(context, upstream), await measureModules(context, upstream)];
}
