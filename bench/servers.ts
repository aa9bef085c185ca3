import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from './benchmark.ts';
import { type Child, startChild } from './child.ts';
import { BenchError } from './error.ts';
import type { Place } from './pin.ts';
import { startMeasured } from './program.ts';

/** Measured servers, each in its own process. */

export type Server = { name: string; url: string; process: Child };

export type Durability = 'process' | 'power';

const AGENTS = ['bench-turns', 'bench-long', 'bench-silent', 'bench-flood', 'bench-halfway'];

const agentOf = (id: string, model_id: string) => ({ id, model_id, max_rounds: 1, allowed_tools: [] });

const DAY_MS = 86_400_000;

/** Agents that only the benchmarks need. The seeded ones complete at once or at 20 ms per token. */
const SETTINGS = {
  providers: [
    {
      id: 'bench-more',
      adapter: 'scripted',
      adapter_options: {
        scripts: {
          'bench-turns': { tokens: 200, text: 'token ', per_turn: 1 },
          'bench-long': { tokens: 400, text: 'token ', delay_ms: 20 },
          'bench-silent': { tokens: 1, first_delay_ms: DAY_MS },
          'bench-flood': { tokens: 4000, text: 'x'.repeat(8192), delay_ms: 5 },
          // 200 tokens at once, then silence for a day.
          'bench-halfway': { tokens: 201, text: 'token ', gap_every: 200, gap_ms: DAY_MS },
        },
      },
    },
  ],
  models: AGENTS.map((id) => ({ id, provider_id: 'bench-more', upstream_model: id })),
  agents: [
    ...AGENTS.map((id) => agentOf(id, id)),
    agentOf('bench-plain', 'bench'),
    { ...agentOf('bench-observed', 'bench'), plugin_ids: ['observability'] },
  ],
};

/** Durabilities to measure in sequence. */
export const durabilitiesOf = ({ short }: Context): readonly Durability[] =>
  short ? ['process'] : ['process', 'power'];

export type TroupeOptions = {
  durability?: Durability;
  dir?: string;
  /** 0, the default, selects a free port. */
  port?: number;
  /** Command that starts node; default: the node of this process. */
  node?: readonly string[];
  /** Arguments of node, in addition to those of the service's command. */
  nodeArguments?: readonly string[];
  /** Flags of the service, such as `--config`. */
  flags?: readonly string[];
  /** Entries of the settings file, in addition to those that every benchmark has. */
  settings?: Partial<Record<keyof typeof SETTINGS, readonly object[]>>;
  /** Environment variables, in addition to those of this process. */
  variables?: Record<string, string>;
  place?: Place;
  /** Receives the output of the process. */
  hear?: (printed: string) => void;
};

/** Does not wait until the service listens. */
export const spawnTroupe = (context: Context, options: TroupeOptions): Child => {
  const { place, variables, hear, node, flags = [] } = options;
  const { flags: nodeFlags, main } = context.build;
  const pairs = Object.entries(settingsOf(context, options)).flatMap(([name, value]) => [`--${name}`, value]);
  const args = [...nodeFlags, ...(options.nodeArguments ?? []), main, 'serve', ...pairs, ...flags];
  return startChild(args, place, variables, hear, node);
};

/** Returns the settings of a measured service by the names of their flags. */
export const settingsOf = (context: Context, options: TroupeOptions): Record<string, string> => {
  const { durability = 'process', dir = context.folder(), port = 0 } = options;
  const settings = join(context.folder(), 'settings.json');
  const { providers = [], models = [], agents = [] } = options.settings ?? {};
  const entries = {
    providers: [...SETTINGS.providers, ...providers],
    models: [...SETTINGS.models, ...models],
    agents: [...SETTINGS.agents, ...agents],
  };
  writeFileSync(settings, JSON.stringify(entries));
  return {
    'settings-file': settings,
    'http-addr': `127.0.0.1:${port}`,
    'storage-dir': dir,
    'seed-profile': 'demo',
    'admin-api-bearer-token': ADMIN_TOKEN,
    'shutdown-timeout-ms': '0',
    // Prevents queueing of runs.
    'max-concurrent-runs': '100000',
    durability,
  };
};

export const ADMIN_TOKEN = 'bench';

export const startTroupe = async (context: Context, options: TroupeOptions = {}): Promise<Server> => {
  const process = spawnTroupe(context, options);
  const [, url = ''] = await process.line(/Troupe listens on (\S+)/);
  return { name: `Troupe (${options.durability ?? 'process'})`, url, process };
};

export const stopAll = async (servers: readonly Server[]): Promise<void> => {
  await Promise.all(servers.map(({ process }) => process.stop()));
};

/** Starts one run. @returns the frames of its stream */
export const readFrames = async ({ name, url }: Server, body: string): Promise<string[]> => {
  const response = await fetch(`${url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const text = await response.text();
  if (!response.ok) throw new BenchError(`${name} answered ${response.status}: ${text}`);
  return text.split(/(?<=\n\n)/);
};

/** Requests JSON as an admin. @throws BenchError for an error response */
export const askJson = async ({ name, url }: Server, path: string, body?: object): Promise<unknown> => {
  const response = await fetch(url + path, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new BenchError(`${name} answered ${path} with ${response.status}: ${text}`);
  return JSON.parse(text);
};

/** Starts a program of `programs/` that prints its address. */
export const startProgram = async (
  { build }: Context,
  name: string,
  program: string,
  args: readonly string[],
  place?: Place,
): Promise<Server> => {
  const process = startMeasured(build, program, args, place);
  const [, url = ''] = await process.line(/listens on (\S+)/);
  return { name, url, process };
};

/** A server that writes these frames and stores nothing. */
export const startBare = (context: Context, frames: readonly string[]): Promise<Server> => {
  const file = join(context.folder(), 'frames.json');
  writeFileSync(file, JSON.stringify(frames));
  return startProgram(context, 'bare loop', 'bare-server', [file]);
};

export const startAi = (context: Context, tokens: number): Promise<Server> =>
  startProgram(context, 'ai 6 on node:http', 'ai-server', [String(tokens)]);
