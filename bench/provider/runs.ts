import { createRunBody } from '../../src/load-generator/index.ts';
import type { Context } from '../benchmark.ts';
import { type Load, type Played, playLoad } from '../load.ts';
import type { Aim, Measured } from '../row.ts';
import { type Server, stopAll } from '../servers.ts';
import { FORMATS, type FormatName } from '../upstream/request.ts';
import {
  assertAccepted,
  LOADS,
  type Model,
  startAiProxy,
  startBareProxy,
  startLitellm,
  startWithProvider,
  type UpstreamServer,
} from './peers.ts';

/**
 * CPU time of a durable run of 200 tokens through a provider. Another process on the core delays a run without
 * increasing its cost, so a row counts as long as the server received the CPU time that it requested.
 */

const CLIENTS = 32;
/** `ai` needs more than the usual minute for its paced runs when other processes use the core. */
const STREAM_TIMEOUT_MS = 300_000;

const PACED_CLIENTS = 150;
const PACED_STREAMS = 300;
const PACED_RAMP_MS = 4000;

type Servers = { troupe: Server; bare: Server; ai: Server; litellm: Server | undefined };

const UNIT = 'ms of CPU';

/** @param less is subtracted from the figure of Troupe */
const row = (metric: string, mine: Played, theirs?: [Played, string], aim?: Aim, less = 0): Measured => ({
  metric,
  unit: UNIT,
  ...(theirs && { baseline: theirs[1] }),
  ...(aim && { aim }),
  rounds: [
    {
      value: mine.cost - less,
      ...(theirs && { baseline: theirs[0].cost }),
      rates: theirs ? [mine.rate, theirs[0].rate] : [mine.rate],
      shares: { Troupe: mine.granted, ...(theirs && { [theirs[1]]: theirs[0].granted }) },
      p50: mine.p50,
      p99: mine.p99,
    },
  ],
});

/** Runs a load twice: during the first run, code is compiled and connections are opened. */
async function playWarm({ short }: Context, server: Server, load: Load): Promise<Played> {
  if (!short) await playLoad(server, { ...load, duration_ms: 2000 });
  return playLoad(server, load);
}

const usual = (context: Context): Load => ({
  connections: context.short ? 2 : CLIENTS,
  stream_timeout_ms: STREAM_TIMEOUT_MS,
  duration_ms: context.roundMs(4000),
});

async function measureBurst(context: Context, servers: Servers): Promise<Measured[]> {
  const { troupe, bare, ai, litellm } = servers;
  const load = usual(context);
  const mine = await playWarm(context, troupe, { ...load, ...LOADS.troupe('openai-chat', 'burst') });
  const proxied = await playWarm(context, bare, { ...load, ...LOADS.bare('openai-chat', 'burst') });
  const piped = await playWarm(context, ai, { ...load, ...LOADS.ai('burst') });
  const scripted = await playWarm(context, troupe, { ...load, body: createRunBody('bench') });
  const metric = 'a run through a provider, all at once';
  const rows = [
    row(metric, mine, [proxied, 'the bare proxy']),
    row(metric, mine, [piped, 'ai 6 on node:http']),
    row(metric, mine, [scripted, 'the scripted model']),
    row(`${metric}, less the scripted run`, mine, undefined, { of: 'value', most: 1 }, scripted.cost),
  ];
  if (!litellm) return rows;
  const slow = await playWarm(context, litellm, { ...load, ...LOADS.litellm('burst') });
  return [...rows, row(metric, mine, [slow, 'LiteLLM'])];
}

async function measureTurns(context: Context, { troupe, bare, ai }: Servers): Promise<Measured[]> {
  const load = usual(context);
  const mine = await playWarm(context, troupe, { ...load, ...LOADS.troupe('openai-chat', 'turns') });
  const proxied = await playWarm(context, bare, { ...load, ...LOADS.bare('openai-chat', 'turns') });
  const piped = await playWarm(context, ai, { ...load, ...LOADS.ai('turns') });
  const scripted = await playWarm(context, troupe, { ...load, body: createRunBody('bench') });
  const metric = 'a run through a provider, one chunk a tick';
  return [
    row(metric, mine, [piped, 'ai 6 on node:http']),
    row(
      `${metric}, less the scripted run`,
      mine,
      [proxied, 'the bare proxy'],
      { of: 'ratio', most: 1.3 },
      scripted.cost,
    ),
  ];
}

/** Each client has its own phase of the pace and of the run, so that runs start continuously. */
export const pacedLoad = ({ short }: Context): Load => ({
  connections: short ? 4 : PACED_CLIENTS,
  stream_timeout_ms: STREAM_TIMEOUT_MS,
  streams: short ? 4 : PACED_STREAMS,
  ramp_ms: short ? 0 : PACED_RAMP_MS,
});

export const pacedModel = ({ short }: Context): Model => (short ? 'paced-10' : 'paced');

export const PACED_METRIC = `a run at 50 tokens/s, ${PACED_CLIENTS} clients`;

async function measurePaced(context: Context, { troupe, bare, ai }: Servers): Promise<Measured[]> {
  const [load, model] = [pacedLoad(context), pacedModel(context)];
  const mine = await playLoad(troupe, { ...load, ...LOADS.troupe('openai-chat', model) });
  const proxied = await playLoad(bare, { ...load, ...LOADS.bare('openai-chat', model) });
  const piped = await playLoad(ai, { ...load, ...LOADS.ai(model) });
  return [
    row(PACED_METRIC, mine, [proxied, 'the bare proxy'], { of: 'ratio', most: 1.5 }),
    row(PACED_METRIC, mine, [piped, 'ai 6 on node:http']),
  ];
}

const FORMAT_NAMES: Record<FormatName, string> = {
  'openai-chat': 'Chat Completions',
  'openai-responses': 'Responses',
  anthropic: 'Messages',
  gemini: 'Gemini',
};

/** One format after another, each followed by the bare proxy. */
async function measureFormats(context: Context, { troupe, bare }: Servers): Promise<Measured[]> {
  const load = usual(context);
  const rows: Measured[] = [];
  for (const format of FORMATS) {
    const mine = await playWarm(context, troupe, { ...load, ...LOADS.troupe(format, 'burst') });
    const proxied = await playWarm(context, bare, { ...load, ...LOADS.bare(format, 'burst') });
    rows.push(row(`a run in ${FORMAT_NAMES[format]}, all at once`, mine, [proxied, 'the bare proxy']));
  }
  return rows;
}

/** Skips, with a note, a format whose service would refuse the request with the results of both calls. */
async function measureCalls(
  context: Context,
  { troupe }: Servers,
  upstream: UpstreamServer,
): Promise<Measured[]> {
  const load = usual(context);
  const rows: Measured[] = [];
  await assertAccepted(upstream);
  const inProcess = await playWarm(context, troupe, { ...load, body: createRunBody('bench-rounds') });
  for (const format of FORMATS) {
    const mine = await playWarm(context, troupe, { ...load, ...LOADS.troupe(format, 'calls') });
    const [refusal] = await upstream.newRefusals();
    if (refusal !== undefined) {
      context.note(`two parallel calls in ${FORMAT_NAMES[format]} were refused and do not count: ${refusal}`);
      continue;
    }
    rows.push(
      row(`a run in ${FORMAT_NAMES[format]} with reasoning and two parallel calls`, mine, [
        inProcess,
        'the same calls by a model in the process',
      ]),
    );
  }
  return rows;
}

export async function measureRuns(context: Context, upstream: UpstreamServer): Promise<Measured[]> {
  const started: Server[] = [];
  const keep = async <Kept extends Server | undefined>(starting: Promise<Kept>): Promise<Kept> => {
    const server = await starting;
    if (server) started.push(server);
    return server;
  };
  try {
    const servers: Servers = {
      troupe: await keep(startWithProvider(context, upstream)),
      bare: await keep(startBareProxy(context, upstream)),
      ai: await keep(startAiProxy(context, upstream)),
      litellm: await keep(startLitellm(context, upstream)),
    };
    return [
      ...(await measureBurst(context, servers)),
      ...(await measureTurns(context, servers)),
      ...(await measurePaced(context, servers)),
      ...(await measureFormats(context, servers)),
      ...(await measureCalls(context, servers, upstream)),
    ];
  } finally {
    await stopAll(started);
  }
}
