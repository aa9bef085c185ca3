import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { randomFrom } from '../../src/load-generator/random.ts';
import { options } from './options.ts';
import { ADMIN, type Service } from './process.ts';
import { below } from './random.ts';
import { createService } from './service.ts';

/**
 * Clients chat by the id of their chat and send the whole history each time, as front ends do, while the process is
 * killed at random moments. A client sends a question again until it has a whole answer, half of them with a key. At the
 * end the thread of each chat is the history of its client (openai.md 5.2, check 74).
 */

const { chatKills, long, seed } = options;

const CLIENTS = long ? 50 : 12;

/** Histories have at most this many questions, so that a client begins several chats. */
const MOST_QUESTIONS = 12;

type Said = { role: 'user' | 'assistant'; content: string };

type Chat = { id: string; isKeyed: boolean; said: Said[]; thread: string };

type World = { service: Service; chats: Chat[]; answers: number; repeats: number; stopped: boolean };

type Answer = { text: string; thread: string };

const URL = '/v1/chat/completions';

/** Undefined unless the answer is whole. */
const ask = async (
  { service }: World,
  { id, isKeyed, said }: Chat,
  stream: boolean,
): Promise<Answer | undefined> => {
  let response: Response;
  let text: string;
  try {
    response = await fetch(service.url + URL, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-openwebui-chat-id': id,
        ...(isKeyed && { 'idempotency-key': `${id}-${said.length}-${stream}` }),
        ...ADMIN,
      },
      body: JSON.stringify({ model: 'worker', messages: said, stream }),
    });
    text = await response.text();
  } catch {
    return undefined;
  }
  if (response.status >= 500) return undefined;
  if (!response.ok) throw new Error(`${id}: ${response.status} ${text}`);
  const thread = response.headers.get('x-troupe-thread-id') ?? '';
  if (!stream) return { text: JSON.parse(text).choices[0].message.content, thread };
  return text.includes('[DONE]') && !text.includes('data: {"error"')
    ? { text: streamedText(text), thread }
    : undefined;
};

const streamedText = (raw: string): string =>
  raw
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .flatMap((frame) => JSON.parse(frame.slice('data: '.length)).choices)
    .map(({ delta }) => delta.content ?? '')
    .join('');

const untilAnswered = async (world: World, chat: Chat, stream: boolean): Promise<Answer> => {
  for (;;) {
    const answer = await ask(world, chat, stream);
    if (answer) return answer;
    world.repeats += 1;
    await world.service.up();
    await pause(1);
  }
};

const converse = async (world: World, me: number): Promise<void> => {
  const random = randomFrom(seed + me);
  for (let number = 0; !world.stopped; number += 1) {
    const chat: Chat = { id: `c${me}-${number}`, isKeyed: me % 2 === 0, said: [], thread: '' };
    world.chats.push(chat);
    for (let turn = 0; turn < MOST_QUESTIONS && !world.stopped; turn += 1) {
      chat.said.push({ role: 'user', content: `[${chat.id}-${turn}] say ${1 + below(random, 4)}` });
      const { text, thread } = await untilAnswered(world, chat, random() < 0.5);
      chat.said.push({ role: 'assistant', content: text });
      chat.thread = thread;
      world.answers += 1;
    }
  }
};

const read = async ({ service }: World, path: string): Promise<Record<string, unknown[]>> => {
  const response = await fetch(service.url + path, { headers: ADMIN });
  // Lists of the service.
  return (await response.json()) as Record<string, unknown[]>;
};

type Stored = Said & { metadata?: { run_id?: string } };

const storedIn = async (world: World, thread: string): Promise<Stored[]> => {
  const { messages = [] } = await read(world, `/v1/threads/${thread}/messages?limit=200`);
  // Messages of texts.
  return (
    messages as { role: Said['role']; content: { text: string }[]; metadata?: Stored['metadata'] }[]
  ).map(({ role, content, metadata }) => ({
    role,
    content: content.map(({ text }) => text).join(''),
    ...(metadata && { metadata }),
  }));
};

/** Describes how the thread of a chat differs from the history of its client. */
const faultsOf = async (world: World, chat: Chat): Promise<string[]> => {
  const { id, said, thread, isKeyed } = chat;
  if (said.length === 0) return [];
  const stored = await storedIn(world, thread);
  const faults: string[] = [];
  const lines = (all: readonly Said[]): string =>
    all.map(({ role, content }) => `${role}: ${content}`).join('\n');
  if (lines(stored) !== lines(said))
    faults.push(`${id}: the thread has\n${lines(stored)}\nthe client\n${lines(said)}`);
  // An answer whose position was lost is imported, and has no run.
  if (stored.some(({ role, metadata }) => role === 'assistant' && metadata?.run_id === undefined))
    faults.push(`${id}: an answer has no run`);
  const { items = [] } = await read(world, `/v1/threads/summaries?resource_id=${id}&limit=50`);
  if (isKeyed && items.length !== 1)
    faults.push(`${id}: ${items.length} threads, though each question has a key`);
  return faults;
};

t.setTimeout(300_000 + chatKills * 20_000);

t.test(
  `loses and doubles no answer of ${CLIENTS} clients over ${chatKills} kills (seed ${seed}, check 74)`,
  async (t) => {
    const service = await createService(t);
    await service.start();
    const world: World = { service, chats: [], answers: 0, repeats: 0, stopped: false };
    const talking = Promise.all(Array.from({ length: CLIENTS }, (_, me) => converse(world, me)));
    const failed = talking.then(() => undefined);
    const random = randomFrom(seed);
    const live = async (): Promise<void> => {
      const enough = world.answers + below(random, CLIENTS);
      while (world.answers < enough) await pause(2);
      await pause(below(random, 200));
    };
    for (let kill = 0; kill < chatKills; kill += 1) {
      // A client that fails ends the test at once.
      await Promise.race([live(), failed]);
      await service.kill();
      await service.start(random() < 0.5 ? 'process' : 'power');
    }
    world.stopped = true;
    await talking;
    t.comment(`${world.chats.length} chats, ${world.answers} answers, ${world.repeats} repeated questions`);
    t.ok(world.answers > CLIENTS);
    const faults: string[] = [];
    for (const chat of world.chats) faults.push(...(await faultsOf(world, chat)));
    t.strictSame(faults, [], `seed ${seed}`);
    await service.stop();
    t.equal(await service.examine(), '', 'troupe doctor finds nothing');
  },
);
