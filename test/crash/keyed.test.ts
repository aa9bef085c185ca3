import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { randomFrom } from '../../src/load-generator/random.ts';
import { options } from './options.ts';
import { below, pick } from './random.ts';
import { ADMIN, createService, type Service } from './service.ts';

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

type Kind = 'thread' | 'mailbox' | 'run';

type World = {
  service: Service;
  inFlight: Set<AbortController>;
  things: Thing[];
  replays: number;
  stopped: boolean;
};

const REQUESTS: Record<Kind, (key: string) => readonly [path: string, body: object]> = {
  thread: (key) => ['/v1/threads', { title: key }],
  mailbox: (key) => [`/v1/threads/${key}/mailbox`, { payload: { text: `[${key}] say 2` } }],
  run: (key) => [
    '/v1/runs',
    { agentId: 'worker', threadId: key, messages: [{ role: 'user', content: `[${key}] say 2` }] },
  ],
};

/** Undefined unless the response is whole. */
const attempt = async (
  { service, inFlight }: World,
  { kind, key }: Omit<Thing, 'text'>,
): Promise<Sent | undefined> => {
  const cut = new AbortController();
  inFlight.add(cut);
  const [path, body] = REQUESTS[kind](key);
  try {
    const response = await fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key, ...ADMIN },
      body: JSON.stringify(body),
      signal: cut.signal,
    });
    const text = await response.text();
    if (response.status >= 500) return undefined;
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    // A graceful end of the process ends streams early.
    if (kind === 'run' && !text.includes('run_finish')) return undefined;
    return { text, isReplay: response.headers.has('idempotency-replayed') };
  } catch (error) {
    if (error instanceof Error && /^\/v1/.test(error.message)) throw error;
    return undefined;
  } finally {
    inFlight.delete(cut);
  }
};

const untilWhole = async (world: World, thing: Omit<Thing, 'text'>): Promise<Sent> => {
  for (;;) {
    const sent = await attempt(world, thing);
    if (sent) return sent;
    await world.service.up();
    await pause(1);
  }
};

const play = async (world: World, me: number): Promise<void> => {
  const random = randomFrom(seed + me);
  const kinds: readonly Kind[] = ['thread', 'mailbox', 'run'];
  for (let number = 0; !world.stopped; number += 1) {
    const thing = { kind: pick(random, kinds), key: `k${me}-${number}` };
    const sent = await untilWhole(world, thing);
    if (sent.isReplay) world.replays += 1;
    world.things.push({ ...thing, text: sent.text });
    if (thing.kind === 'run' || random() < 0.5) continue;
    const again = await untilWhole(world, thing);
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

/** The ids of the things that a key has created. */
const idsOf = async (world: World, { kind, key }: Thing): Promise<unknown[]> => {
  if (kind === 'thread') {
    const found = await rowsOf(world, `/v1/threads/summaries?q=${key}`, 'items');
    return found.filter(({ title }) => title === key).map(({ id }) => id);
  }
  const path = `/v1/threads/${key}/${kind === 'run' ? 'runs' : 'mailbox'}`;
  return (await rowsOf(world, path, 'items')).map(({ run_id }) => run_id);
};

/** The id that the response contains. */
const idIn = ({ kind, text }: Thing): unknown => {
  const [, run_id] = /"run_id":"([^"]+)"/.exec(text) ?? [];
  return kind === 'thread' ? JSON.parse(text).id : run_id;
};

t.setTimeout(120_000 + keyedRounds * 5_000);

t.test(`executes each request once over ${keyedRounds} kills and cuts (seed ${seed})`, async (t) => {
  const service = await createService(t, { env: { SERVICE_MAILBOX_MAX_ATTEMPTS: '100000' } });
  await service.start();
  const world: World = { service, inFlight: new Set(), things: [], replays: 0, stopped: false };
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
  t.comment(`${kills} kills, ${world.things.length} requests, ${world.replays} answered by a replay`);
  t.ok(world.things.length > CLIENTS);
  const wrong: string[] = [];
  for (const thing of world.things) {
    const ids = await idsOf(world, thing);
    if (ids.length !== 1 || ids[0] !== idIn(thing))
      wrong.push(`${thing.kind} ${thing.key}: created ${ids.join()}, answered ${String(idIn(thing))}`);
  }
  t.strictSame(wrong, [], `seed ${seed}`);
  await service.stop();
  t.equal(await service.examine(), '', 'troupe doctor finds nothing');
});
