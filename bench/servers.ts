import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, startChild, startProgram } from './child.ts';
import type { Place } from './pin.ts';
import type { Context } from './result.ts';

/** Servers under measurement, each in its own process. */

export type Server = { name: string; url: string; process: Child };

export type Durability = 'process' | 'power';

const AGENTS = ['bench-turns', 'bench-long', 'bench-silent', 'bench-flood'];

/** Agents that only the benchmarks need. The seeded ones answer at once or at 20 ms a token. */
const SETTINGS = {
  providers: [
    {
      id: 'bench-more',
      adapter: 'scripted',
      adapter_options: {
        scripts: {
          'bench-turns': { tokens: 200, text: 'token ', per_turn: 1 },
          'bench-long': { tokens: 400, text: 'token ', delay_ms: 20 },
          'bench-silent': { tokens: 1, first_delay_ms: 86_400_000 },
          'bench-flood': { tokens: 4000, text: 'x'.repeat(8192), delay_ms: 5 },
        },
      },
    },
  ],
  models: AGENTS.map((id) => ({ id, provider_id: 'bench-more', upstream_model: id })),
  agents: AGENTS.map((id) => ({ id, model_id: id, max_rounds: 1, allowed_tools: [] })),
};

export type TroupeOptions = { durability: Durability; dir: string; port: number };

export const troupeArguments = (context: Context, { durability, dir, port }: TroupeOptions): string[] => {
  const settings = join(context.folder(), 'settings.json');
  writeFileSync(settings, JSON.stringify(SETTINGS));
  const flags = {
    'settings-file': settings,
    'http-addr': `127.0.0.1:${port}`,
    'storage-dir': dir,
    'seed-profile': 'demo',
    'admin-api-bearer-token': 'bench',
    'shutdown-timeout-ms': '0',
    // What a benchmark asks for executes at once.
    'max-concurrent-runs': '100000',
    durability,
  };
  return [
    ...nodeFlags(context.server),
    context.server,
    'serve',
    ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]),
  ];
};

/** The flags of node that the command starts itself with, from its first line. */
const nodeFlags = (main: string): string[] => {
  const [first = ''] = readFileSync(main, 'utf8').split('\n', 1);
  return /^#!.* node (--.*)$/.exec(first)?.[1]?.split(' ') ?? [];
};

const LISTENS = /Troupe listens on (\S+)/;

export const startTroupe = async (
  context: Context,
  durability: Durability,
  {
    nodeArguments = [],
    place,
    dir = context.folder(),
  }: { nodeArguments?: readonly string[]; place?: Place; dir?: string } = {},
): Promise<Server> => {
  const options = { durability, dir, port: 0 };
  const process = startChild([...nodeArguments, ...troupeArguments(context, options)], place);
  const [, url = ''] = await process.line(LISTENS);
  return { name: `Troupe (${durability})`, url, process };
};

/** The frames of one stream, as they came. */
export const framesOf = async (url: string, body: string): Promise<string[]> => {
  const response = await fetch(`${url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
  return text.split(/(?<=\n\n)/);
};

const startListening = async (name: string, program: string, args: readonly string[]): Promise<Server> => {
  const process = startProgram(program, args);
  const [, url = ''] = await process.line(/listens on (\S+)/);
  return { name, url, process };
};

/** Writes these frames and stores nothing. */
export const startBare = (context: Context, frames: readonly string[]): Promise<Server> => {
  const file = join(context.folder(), 'frames.json');
  writeFileSync(file, JSON.stringify(frames));
  return startListening('bare uWebSockets.js', 'bare-server', [file]);
};

export const startAi = (tokens: number): Promise<Server> =>
  startListening('ai 6 on node:http', 'ai-server', [String(tokens)]);
