import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { randomFrom } from '../../src/load-generator/random.ts';
import { options } from './options.ts';
import { ADMIN, type Service } from './process.ts';
import { below, pick } from './random.ts';
import { createService } from './service.ts';

/**
 * Clients repeat their requests with an `Idempotency-Key` until they have a whole response, while their connections are
 * cut and the process is killed at random moments: nothing exists twice, and nothing is missing (runtime.md 0.8, check 46).
 */

const { keyedRounds, seed } = options;

/** One of so many rounds is a kill, the others are cuts. */
const CUTS_PER_KILL = 9;

const CLIENTS = 12;

type Sent = { text: string; isReplay: boolean };

type Thing = { kind: Kind; key: string; text: string };

type World = {
  service: Service;
  inFlight: Set<AbortController>;
  things: Thing[];
  replays: number;
  /** Requests that their client cut, by the place of the cut. */
  cuts: Record<Cut, number>;
  stopped: boolean;
};

/** Places at which a client cuts its request; `stream` is the body of a response. */
const CUTS = ['request', 'body', 'commit', 'stream'] as const;

type Cut = (typeof CUTS)[number];

const user = (key: string) => [{ role: 'user', content: `[${key}] say 2` }];
const parted = (key: string) => [
  { id: key, role: 'user', parts: [{ type: 'text', text: `[${key}] say 2` }] },
];

type Request = {
  path: string;
  body: object | string;
  headers?: Record<string, string>;
  /** What only a whole stream contains. A graceful end of the process ends streams early. */
  end?: string;
};

/** Each request creates a thread with the name of its key and one run, unless it creates something else. */
const REQUESTS = {
  thread: (key) => ({ path: '/v1/threads', body: { title: key } }),
  mailbox: (key) => ({ path: `/v1/threads/${key}/mailbox`, body: { payload: { text: `[${key}] say 2` } } }),
  run: (key) => ({
    path: '/v1/runs',
    body: { agentId: 'worker', threadId: key, messages: user(key) },
    end: 'run_finish',
  }),
  chat: (key) => ({
    path: '/v1/ai-sdk/chat',
    body: { agentId: 'worker', threadId: key, messages: parted(key) },
    end: '"type":"finish"',
  }),
  agUi: (key) => ({
    path: '/v1/ag-ui/run',
    body: { agentId: 'worker', threadId: key, messages: [{ id: key, ...user(key)[0] }] },
    end: 'RUN_FINISHED',
  }),
  a2a: (key) => ({
    path: '/v1/a2a/worker/message:send',
    body: {
      message: {
        messageId: key,
        contextId: key,
        role: 'ROLE_USER',
        parts: [{ text: `[${key}] say 2` }],
      },
    },
  }),
  completion: (key) => ({
    path: '/v1/chat/completions',
    body: { model: 'worker', messages: user(key) },
    headers: { 'x-troupe-thread-id': key },
  }),
  completionStream: (key) => ({
    path: '/v1/chat/completions',
    body: { model: 'worker', messages: user(key), stream: true },
    headers: { 'x-troupe-thread-id': key },
    end: '[DONE]',
  }),
  response: (key) => ({
    path: '/v1/responses',
    body: { model: 'worker', input: `[${key}] say 2`, conversation: key },
  }),
  responseStream: (key) => ({
    path: '/v1/responses',
    body: { model: 'worker', input: `[${key}] say 2`, conversation: key, stream: true },
    end: '[DONE]',
  }),
  upload: (key) => ({
    path: `/v1/files?purpose=user_data&filename=${key}`,
    body: `content of ${key} `.repeat(2000),
    headers: { 'content-type': 'text/plain' },
  }),
} satisfies Record<string, (key: string) => Request>;

type Kind = keyof typeof REQUESTS;

const KINDS = Object.keys(REQUESTS) as Kind[];

const requestOf = ({ kind, key }: Omit<Thing, 'text'>): Request => REQUESTS[kind](key);

const IS_REFUSAL = /^\/v1/;

/** Undefined unless the response is whole. */
const attempt = async (
  { service, inFlight, cuts }: World,
  thing: Omit<Thing, 'text'>,
  cut: Cut | undefined,
): Promise<Sent | undefined> => {
  const controller = new AbortController();
  inFlight.add(controller);
  const { path, body, headers, end } = requestOf(thing);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  if (cut) cuts[cut] += 1;
  try {
    const sent = fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': thing.key, ...ADMIN, ...headers },
      body: cut === 'body' ? halfOf(text, controller) : text,
      signal: controller.signal,
      ...(cut === 'body' && { duplex: 'half' }),
    });
    if (cut === 'request') controller.abort();
    const response = await sent;
    if (cut === 'commit') controller.abort();
    if (cut === 'stream') await response.body?.getReader().read();
    if (cut) controller.abort();
    if (cut) return undefined;
    const got = await response.text();
    // An upload that is in progress is asked for again.
    if (response.status >= 500 || (thing.kind === 'upload' && response.status === 409)) return undefined;
    if (!response.ok) throw new Error(`${path}: ${response.status} ${got}`);
    if (end !== undefined && !got.includes(end)) return undefined;
    return { text: got, isReplay: response.headers.has('idempotency-replayed') };
  } catch (error) {
    if (error instanceof Error && IS_REFUSAL.test(error.message)) throw error;
    return undefined;
  } finally {
    inFlight.delete(controller);
  }
};

/** Sends the first half of a body, and disconnects. */
const halfOf = (text: string, cut: AbortController): ReadableStream =>
  new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(text.slice(0, text.length / 2)));
      await pause(2);
      cut.abort();
    },
  });

const untilWhole = async (world: World, thing: Omit<Thing, 'text'>, random: () => number): Promise<Sent> => {
  for (;;) {
    const cut = random() < CUT_SHARE ? pick(random, CUTS) : undefined;
    const sent = await attempt(world, thing, cut);
    if (sent) return sent;
    await world.service.up();
    await pause(1);
  }
};

/** The share of the requests that their client cuts. */
const CUT_SHARE = 0.3;

const play = async (world: World, me: number): Promise<void> => {
  const random = randomFrom(seed + me);
  for (let number = 0; !world.stopped; number += 1) {
    const thing = { kind: pick(random, KINDS), key: `k${me}-${number}` };
    const sent = await untilWhole(world, thing, random);
    if (sent.isReplay) world.replays += 1;
    world.things.push({ ...thing, text: sent.text });
    if (requestOf(thing).end !== undefined || random() < 0.5) continue;
    const again = await untilWhole(world, thing, random);
    if (again.text !== sent.text) throw new Error(`${thing.key}: ${again.text} is not ${sent.text}`);
  }
};

/** The maximum time to wait until a round has had its share of responses. */
const ROUND_MS = 20_000;

/** Waits for a few more responses, or for none. */
const lived = async (world: World, more: number): Promise<void> => {
  const enough = world.things.length + more;
  const deadline = performance.now() + ROUND_MS;
  while (world.things.length < enough && performance.now() < deadline) await pause(2);
};

/** Ends the process, or one connection. */
const disturb = async (world: World, random: () => number): Promise<'kill' | 'cut'> => {
  await lived(world, below(random, 6));
  await pause(below(random, 10));
  if (below(random, CUTS_PER_KILL) > 0) {
    const open = [...world.inFlight];
    if (open.length > 0) pick(random, open).abort();
    return 'cut';
  }
  await world.service.kill();
  await world.service.start(random() < 0.5 ? 'process' : 'power');
  return 'kill';
};

const rowsOf = async ({ service }: World, path: string, name: string): Promise<Record<string, unknown>[]> => {
  const response = await fetch(service.url + path, { headers: ADMIN });
  // The lists of the service have rows under this name.
  return ((await response.json()) as Record<string, Record<string, unknown>[]>)[name] ?? [];
};

/** All files, by their names. */
const filesOf = async (world: World): Promise<Map<unknown, unknown[]>> => {
  const files = new Map<unknown, unknown[]>();
  for (let after = ''; ; ) {
    const page = await rowsOf(world, `/v1/files?limit=100${after}`, 'data');
    for (const { filename, id } of page) files.set(filename, [...(files.get(filename) ?? []), id]);
    const last = page.at(-1);
    if (!last) return files;
    after = `&after=${String(last.id)}`;
  }
};

/** The threads by title. The search for a title reads the newest threads only. */
const threadsOf = async (world: World): Promise<ReadonlyMap<unknown, unknown[]>> => {
  const threads = new Map<unknown, unknown[]>();
  for (let offset = 0; ; offset += 100) {
    const page = await rowsOf(world, `/v1/threads/summaries?limit=100&offset=${offset}`, 'items');
    for (const { title, id } of page) threads.set(title, [...(threads.get(title) ?? []), id]);
    if (page.length === 0) return threads;
  }
};

type Created = { files: ReadonlyMap<unknown, unknown[]>; threads: ReadonlyMap<unknown, unknown[]> };

/** The ids of the things that a key has created. */
const idsOf = async (world: World, { files, threads }: Created, { kind, key }: Thing): Promise<unknown[]> => {
  if (kind === 'upload') return files.get(key) ?? [];
  if (kind === 'thread') return threads.get(key) ?? [];
  const path = `/v1/threads/${key}/${kind === 'mailbox' ? 'mailbox' : 'runs'}`;
  return (await rowsOf(world, path, 'items')).map(({ run_id }) => run_id);
};

/** Whether the response names this id; ids of OpenAI's protocol contain those of runs without hyphens. */
const names = ({ kind, text }: Thing, id: unknown): boolean =>
  // Frames of the chat have no id of their run.
  kind === 'chat' || text.includes(String(id)) || text.includes(String(id).replaceAll('-', ''));

t.setTimeout(120_000 + keyedRounds * 5_000);

t.test(`executes each request once over ${keyedRounds} kills and cuts (seed ${seed})`, async (t) => {
  const service = await createService(t, { env: { SERVICE_MAILBOX_MAX_ATTEMPTS: '100000' } });
  await service.start();
  const world: World = {
    service,
    inFlight: new Set(),
    things: [],
    replays: 0,
    cuts: { request: 0, body: 0, commit: 0, stream: 0 },
    stopped: false,
  };
  const playing = Promise.all(Array.from({ length: CLIENTS }, (_, me) => play(world, me)));
  const failed = playing.then(() => undefined);
  const random = randomFrom(seed);
  let kills = 0;
  for (let round = 0; round < keyedRounds; round += 1) {
    // A client that fails ends the test at once.
    const how = await Promise.race([disturb(world, random), failed]);
    if (how === 'kill') kills += 1;
  }
  world.stopped = true;
  await playing;
  t.comment(
    `${kills} kills, cuts ${JSON.stringify(world.cuts)}, ${world.things.length} requests, ${world.replays} answered by a replay`,
  );
  t.ok(world.things.length > CLIENTS);
  const wrong: string[] = [];
  const created = { files: await filesOf(world), threads: await threadsOf(world) };
  for (const thing of world.things) {
    const ids = await idsOf(world, created, thing);
    if (ids.length !== 1 || !names(thing, ids[0]))
      wrong.push(`${thing.kind} ${thing.key}: created ${ids.join()}, answered ${thing.text}`);
  }
  t.strictSame(wrong, [], `seed ${seed}`);
  await service.stop();
  t.equal(await service.examine(), '', 'troupe doctor finds nothing');
});
