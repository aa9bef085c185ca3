import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRunBody } from '../../src/load-generator/index.ts';
import { agentsModule } from '../agents.ts';
import type { Context } from '../benchmark.ts';
import { startChild } from '../child.ts';
import { BenchError } from '../error.ts';
import { freePort, untilHealthy } from '../health.ts';
import type { Load } from '../load.ts';
import { beside } from '../pin.ts';
import { type Server, startProgram, startTroupe, type TroupeOptions } from '../servers.ts';
import { buildRequest, FORMATS, type FormatName } from '../upstream/request.ts';
import type { Counts } from '../upstream/server.ts';

/** The upstream, and the servers between it and a client: Troupe and the programs that it is compared with. */

export type UpstreamServer = Server & {
  counts(): Promise<Counts>;
  /** Refusals since the last call. */
  newRefusals(): Promise<string[]>;
};

export async function startUpstream(context: Context): Promise<UpstreamServer> {
  const server = await startProgram(context, 'upstream', 'upstream', [], beside);
  let seen = 0;
  // The program responds to each message with its counts.
  const counts = async (): Promise<Counts> => (await server.process.ask('counts')) as Counts;
  const newRefusals = async (): Promise<string[]> => {
    const { refusals } = await counts();
    const found = refusals.slice(seen);
    seen = refusals.length;
    return found;
  };
  return { ...server, counts, newRefusals };
}

/** @throws BenchError when a request was refused, because the figures are then meaningless */
export async function assertAccepted(upstream: UpstreamServer): Promise<void> {
  const refusals = await upstream.newRefusals();
  const [first] = refusals;
  if (first === undefined) return;
  throw new BenchError(`the upstream refused ${refusals.length} requests, the first one: ${first}`);
}

const PROVIDERS: Record<FormatName, { adapter: string; path: string }> = {
  'openai-chat': { adapter: 'openai', path: '/v1' },
  'openai-responses': { adapter: 'openai_resp', path: '/v1' },
  anthropic: { adapter: 'anthropic', path: '/v1' },
  gemini: { adapter: 'gemini', path: '/v1beta' },
};

/** Models of the upstream; each has one agent per wire format. */
export const MODELS = ['burst', 'turns', 'turns-20', 'paced', 'paced-10', 'paced-400', 'calls'] as const;

export type Model = (typeof MODELS)[number];

const settingsFor = (upstream: Server): TroupeOptions['settings'] => {
  const pairs = FORMATS.flatMap((format) => MODELS.map((model) => ({ format, model })));
  return {
    providers: FORMATS.map((format) => {
      const { adapter, path } = PROVIDERS[format];
      return { id: `bench-${format}`, adapter, base_url: upstream.url + path, api_key: 'bench' };
    }),
    models: pairs.map(({ format, model }) => ({
      id: agentOf(format, model),
      provider_id: `bench-${format}`,
      upstream_model: model,
    })),
    agents: pairs.map(({ format, model }) => ({
      id: agentOf(format, model),
      model_id: agentOf(format, model),
      max_rounds: model === 'calls' ? 0 : 1,
      allowed_tools: model === 'calls' ? ['first', 'second'] : [],
    })),
  };
};

const agentOf = (format: FormatName, model: Model): string => `bench-${format}-${model}`;

/** Includes the tools of `programs/agents.ts`, and its agent that calls both of them once without a provider. */
export const startWithProvider = (
  context: Context,
  upstream: Server,
  options: TroupeOptions = {},
): Promise<Server> =>
  startTroupe(context, {
    ...options,
    settings: settingsFor(upstream),
    flags: ['--config', agentsModule(context, { rounds: 1 })],
  });

export const startBareProxy = (context: Context, upstream: Server): Promise<Server> =>
  startProgram(context, 'bare proxy', 'bare-proxy', [upstream.url]);

export const startAiProxy = (context: Context, upstream: Server): Promise<Server> =>
  startProgram(context, 'ai 6 on node:http', 'ai-proxy', [upstream.url]);

/** LiteLLM does not start without a master key. */
const LITELLM_MASTER_KEY = `sk-${randomBytes(32).toString('hex')}`;

const LITELLM_CLIENTS = 4;
const LITELLM_STREAM_MS = 300_000;
const LITELLM_START_MS = 300_000;

/** @returns undefined, with a note, if the option with the command is missing */
export async function startLitellm(context: Context, upstream: Server): Promise<Server | undefined> {
  const { litellm } = context;
  if (litellm === undefined) {
    context.note(
      "LiteLLM was not measured: install 'litellm[proxy]' from PyPI and give --litellm its command",
    );
    return undefined;
  }
  const file = join(context.folder(), 'litellm.yaml');
  const model_list = [{ model_name: 'burst', litellm_params: paramsFor(upstream) }];
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ model_list }));
  const port = await freePort();
  const args = ['--config', file, '--host', '127.0.0.1', '--port', String(port)];
  const variables = { LITELLM_MASTER_KEY, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR' };
  const process = startChild(args, undefined, variables, undefined, [litellm]);
  const late = new Promise<never>((_, reject) => {
    const error = new BenchError(`LiteLLM did not start within ${LITELLM_START_MS / 1000} s`);
    setTimeout(() => reject(error), LITELLM_START_MS).unref();
  });
  const url = `http://127.0.0.1:${port}`;
  await Promise.race([untilHealthy(process, url, '/health/liveliness'), late]);
  return { name: 'LiteLLM', url, process };
}

const paramsFor = ({ url }: Server): object => ({
  model: 'openai/burst',
  api_base: `${url}/v1`,
  api_key: 'bench',
});

/** Requests to each server for a completion of the model. */
export const LOADS = {
  troupe: (format: FormatName, model: Model): Load => ({ body: createRunBody(agentOf(format, model)) }),
  bare: (format: FormatName, model: Model): Load => ({ path: `/${format}/${model}`, body: () => '{}' }),
  ai: (model: Model): Load => ({
    path: `/${model}`,
    body: createRunBody('bench'),
    first: '"text-delta"',
    terminal: 'data: [DONE]',
  }),
  upstream: (model: Model): Load => ({ ...chatLoad(model), first: '"content":"@' }),
  litellm: (model: Model): Load => ({
    ...chatLoad(model),
    // A run takes it a hundred times as long as the others. The CPU time of a run does not depend on their number.
    connections: LITELLM_CLIENTS,
    stream_timeout_ms: LITELLM_STREAM_MS,
    headers: { authorization: `Bearer ${LITELLM_MASTER_KEY}` },
  }),
};

function chatLoad(model: Model): Load {
  const { path, headers, body } = buildRequest('openai-chat', model);
  return { path, headers, body: () => body, first: '"content"', terminal: 'data: [DONE]' };
}
