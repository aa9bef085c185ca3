import { pathToFileURL } from 'node:url';
import type { Benchmark, Context } from './benchmark.ts';
import { programFile } from './program.ts';
import type { Turns } from './programs/turns.ts';
import type { Measured } from './row.ts';
import { ADMIN_TOKEN, type Server, startTroupe } from './servers.ts';

/**
 * Request bodies within the limits whose processing would cost far more than their size suggests, on every route that
 * unauthenticated clients can send one to, and on those of operators. The worst body of each route is reported.
 */

const MIB = 2 ** 20;

type Bomb = { name: string; json(bytes: number): string };

const list = (item: string, bytes: number): string => {
  const count = Math.floor((bytes - 2) / (item.length + 1));
  return `[${`${item},`.repeat(count - 1)}${item}]`;
};

const counted = (bytes: number, most: number, item: (index: number) => string): string[] => {
  const items: string[] = [];
  for (let left = bytes; items.length < most; ) {
    const next = item(items.length);
    left -= next.length + 1;
    if (left < 2) break;
    items.push(next);
  }
  return items;
};

/** Just below the limit of values in a body. */
const MOST = 49_000;

const BOMBS: readonly Bomb[] = [
  { name: 'numbers', json: (bytes) => list('1', bytes) },
  { name: 'empty lists', json: (bytes) => list('[]', bytes) },
  { name: 'nested lists', json: (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2) },
  { name: 'one string', json: (bytes) => JSON.stringify('x'.repeat(bytes - 2)) },
  { name: 'a string of escapes', json: (bytes) => `"${'\\"'.repeat(bytes / 2 - 1)}"` },
  { name: 'characters of three bytes', json: (bytes) => `"${'\u4e2d'.repeat(bytes / 3 - 1)}"` },
  { name: 'one number', json: (bytes) => '1'.repeat(bytes) },
  { name: 'one repeated key', json: (bytes) => `{${'"a":1,'.repeat(bytes / 6 - 1)}"a":1}` },
  {
    name: 'keys',
    json: (bytes) => `{${counted(bytes, MOST / 2, (index) => `"k${index}":0`).join(',')}}`,
  },
  {
    name: 'long keys',
    json: (bytes) => `{${counted(bytes, MOST / 2, (index) => `"${'k'.repeat(200)}${index}":0`).join(',')}}`,
  },
  {
    name: 'objects with one key',
    json: (bytes) => `[${counted(bytes, MOST / 3, (index) => `{"k${index}":0}`).join(',')}]`,
  },
  { name: 'many wrong items', json: (bytes) => `[${counted(bytes, 9000, () => '{}').join(',')}]` },
];

type Target = {
  method: 'POST' | 'PATCH' | 'PUT';
  path: string;
  bytes: number;
  /** Text before and after the bomb. */
  around: readonly [string, string];
  admin?: true;
};

const SMALL = 2 * MIB - 1024;
const LARGE = 12 * MIB - 1024;

const AGENT = '"agentId":"bench"';
const USER = '"messages":[{"id":"m","role":"user","content":"Go.","parts":[{"type":"text","text":"Go."}]}]';

const TARGETS: readonly Target[] = [
  { method: 'POST', path: '/v1/runs', bytes: SMALL, around: [`{${AGENT},"messages":`, '}'] },
  {
    method: 'POST',
    path: '/v1/runs',
    bytes: SMALL,
    around: [`{${AGENT},"messages":[{"role":"user","content":`, '}]}'],
  },
  { method: 'POST', path: '/v1/threads', bytes: SMALL, around: ['{"title":', '}'] },
  { method: 'PATCH', path: '/v1/threads/T', bytes: SMALL, around: ['{"custom":', '}'] },
  { method: 'POST', path: '/v1/threads/T/messages', bytes: SMALL, around: [`{${AGENT},"messages":`, '}'] },
  { method: 'POST', path: '/v1/threads/M/mailbox', bytes: SMALL, around: ['{"payload":', '}'] },
  {
    method: 'POST',
    path: '/v1/threads/T/decision',
    bytes: SMALL,
    around: ['{"toolCallId":"x","action":"resume","payload":', '}'],
  },
  { method: 'POST', path: '/v1/ag-ui/run', bytes: LARGE, around: [`{${AGENT},"messages":`, '}'] },
  { method: 'POST', path: '/v1/ag-ui/run', bytes: LARGE, around: [`{${AGENT},"tools":`, `,${USER}}`] },
  { method: 'POST', path: '/v1/ag-ui/run', bytes: LARGE, around: [`{${AGENT},"state":`, `,${USER}}`] },
  { method: 'POST', path: '/v1/ai-sdk/chat', bytes: LARGE, around: [`{${AGENT},"messages":`, '}'] },
  { method: 'POST', path: '/v1/ai-sdk/chat', bytes: LARGE, around: [`{${AGENT},"state":`, `,${USER}}`] },
  {
    method: 'POST',
    path: '/v1/a2a/bench/message:send',
    bytes: SMALL,
    around: ['{"message":{"messageId":"m","role":"ROLE_USER","parts":', '}}'],
  },
  {
    method: 'POST',
    path: '/v1/a2a/bench/message:send',
    bytes: SMALL,
    around: ['{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":', '}]}}'],
  },
  {
    method: 'POST',
    path: '/v1/a2a/bench/tasks/T/pushNotificationConfigs',
    bytes: SMALL,
    around: ['{"url":"http://127.0.0.1:9/","authentication":', '}'],
  },
  ...['messages', 'state'].map(
    (field): Target => ({
      method: 'POST',
      path: '/v1/ai-sdk/agent-previews/runs',
      bytes: LARGE,
      around: [
        `{"agent":{"id":"b","model_id":"bench"},"${field}":`,
        field === 'messages' ? '}' : `,${USER}}`,
      ],
      admin: true,
    }),
  ),
  {
    method: 'POST',
    path: '/v1/config/agents/validate',
    bytes: SMALL,
    around: ['{"id":"b","model_id":"bench","allowed_tools":', '}'],
    admin: true,
  },
];

type Figures = { bomb: string; status: number; bytes: number; turn: number; growth: number };

const throwAt = async (server: Server, target: Target, bomb: Bomb, scale: number): Promise<Figures> => {
  const [head, tail] = target.around;
  const bytes = Math.floor(target.bytes / scale);
  const body = Buffer.from(head + bomb.json(bytes - head.length - tail.length) + tail);
  await server.process.ask('begin');
  const response = await fetch(server.url + target.path, {
    method: target.method,
    headers: {
      'content-type': 'application/json',
      ...(target.admin && { authorization: `Bearer ${ADMIN_TOKEN}` }),
    },
    body,
  });
  await response.text();
  // The program responds to the end of a measurement with Turns.
  const { longest_ms, peak_kib } = (await server.process.ask('end')) as Turns;
  return {
    bomb: bomb.name,
    status: response.status,
    bytes: body.length,
    turn: longest_ms,
    growth: (peak_kib * 1024) / body.length,
  };
};

/**
 * For a smaller body, growth is dominated by the usual allocations of a running service, so the largest rise of the
 * memory is reported instead.
 */
const SIZED = MIB;

const rowsOf = (
  context: Context,
  { method, path, around }: Target,
  figures: readonly Figures[],
): Measured[] => {
  const field = /"(\w+)":\[?(?:\{[^}]*"(\w+)":)?$/.exec(around[0]);
  const name = `${method} ${path} ${field?.[2] ?? field?.[1] ?? ''}`;
  const slowest = figures.reduce((worst, each) => (each.turn > worst.turn ? each : worst));
  const sized = figures.filter(({ bytes }) => bytes >= SIZED);
  const small = figures.filter(({ bytes }) => bytes < SIZED);
  const risen = small.map(({ bytes, growth }) => (bytes * growth) / MIB);
  const largest = sized.length === 0 ? undefined : sized.reduce((a, b) => (b.growth > a.growth ? b : a));
  const row = (metric: string, unit: string, value: number, most?: number): Measured => ({
    metric: `${name}: ${metric}`,
    unit,
    ...(most !== undefined && { aim: { of: 'value', most } }),
    rounds: [{ value }],
  });
  context.note(`${name}: slowest ${slowest.bomb} (${slowest.status}), largest ${largest?.bomb ?? 'none'}`);
  return [
    row('the longest tick', 'ms of CPU', slowest.turn, 50),
    ...(largest ? [row('the most memory', 'times the body', largest.growth, 20)] : []),
    ...(risen.length === 0 ? [] : [row('bodies below 1 MiB', 'MiB at most', Math.max(...risen))]),
  ];
};

const warmUp = async (server: Server): Promise<void> => {
  for (const target of TARGETS) {
    for (const bomb of BOMBS) await throwAt(server, target, bomb, 64);
  }
};

export const bombs: Benchmark = {
  name: 'bombs',
  long: true,
  title:
    'bombs: the longest event-loop tick of a body within the limits, and its memory (the worst of each route)',
  async run(context: Context) {
    if (process.platform !== 'linux') {
      context.note('skipped: CPU time of a thread is read from Linux');
      return [];
    }
    const server = await startTroupe(context, {
      nodeArguments: ['--expose-gc', `--import=${pathToFileURL(programFile(context.build, 'turns')).href}`],
    });
    await fetch(`${server.url}/v1/threads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"title":"bombs"}',
    });
    await warmUp(server);
    const rows: Measured[] = [];
    for (const target of TARGETS) {
      const figures: Figures[] = [];
      for (const bomb of BOMBS) figures.push(await throwAt(server, target, bomb, context.short ? 64 : 1));
      rows.push(...rowsOf(context, target, figures));
      for (const { bomb, status, turn } of figures) {
        if (turn > 50) context.note(`${target.path} ${bomb}: ${status}, ${Math.round(turn)} ms`);
      }
    }
    await server.process.stop();
    return rows;
  },
};
