import type { ChatRequest } from '../../protocols/openai/chat-decode.ts';
import { normalized } from '../../protocols/openai/transcript.ts';
import type { Leg } from '../../schema/activation.ts';
import { textOf } from '../../schema/message.ts';
import type { Thread } from '../../schema/thread.ts';
import type { OpenAiDeps } from './openai-deps.ts';

/**
 * Which threads of a chat are kept (openai.md 5.2): its first one, and those that a later request has continued. Others
 * expire.
 *
 * Front ends ask for titles with the id of the chat too, also before its first answer, and do not stream them. So the
 * first thread is provisional while it has one request without a stream: it expires when another thread proves to be the
 * conversation. A thread does so by a stream, by a question that the message of the provisional one contains, or by a
 * second request.
 * Cost: one list of the chat for a new thread, and for the second request of a thread.
 */

type Deps = Pick<OpenAiDeps, 'clock' | 'runtime' | 'settings' | 'store'>;

export type OfChat = { scope: string; chat: string };

/** Returns when a thread that begins now expires, in milliseconds. */
export const expiryOf = ({ clock, settings }: Pick<Deps, 'clock' | 'settings'>): number =>
  clock.now() + settings.openai.unkeyed_retention_secs * 1000;

/** Returns when the thread that the request begins expires; undefined if it is kept. */
export const expiryInChat = async (
  deps: Deps,
  of: OfChat,
  request: Pick<ChatRequest, 'isStream' | 'messages'>,
): Promise<number | undefined> => {
  const { settled, provisional } = keptThreads(deps, of);
  if (settled > 0) return expiryOf(deps);
  const replaced = request.isStream
    ? provisional
    : provisional.filter((thread) => contains(deps, of.scope, { thread, request }));
  if (provisional.length > replaced.length) return expiryOf(deps);
  await expireAll(deps, of.scope, replaced);
  return undefined;
};

/** Lets the provisional threads of the chat expire, except this one, which a second request has continued. */
export const settleThread = (deps: Deps, of: OfChat, thread_id: string): Promise<void> =>
  expireAll(
    deps,
    of.scope,
    keptThreads(deps, of).provisional.filter(({ id }) => id !== thread_id),
  );

/** Whether the leg is the first one of its thread. */
export const isFirstLeg = (leg: Leg | undefined): boolean => leg?.number === 0 && leg.seq === 0;

/** The newest threads of a chat that are read. */
const MOST_THREADS = 64;

const keptThreads = ({ store }: Deps, { scope, chat }: OfChat) => {
  const kept = store.threads
    .list(scope, { resource_id: chat }, { offset: 0, limit: MOST_THREADS })
    .items.flatMap(({ thread }) => (thread.expires_at === undefined ? [thread] : []));
  const provisional = kept.filter(({ latest_run_id }) => {
    const run = latest_run_id === undefined ? undefined : store.runs.get(scope, latest_run_id);
    const leg = run?.activation?.options.leg;
    return leg?.chat?.is_whole === true && isFirstLeg(leg);
  });
  return { settled: kept.length - provisional.length, provisional };
};

/** Whether the first message of the thread contains the question of the request, and more. */
const contains = (
  { store }: Deps,
  scope: string,
  { thread, request }: { thread: Thread; request: Pick<ChatRequest, 'messages'> },
): boolean => {
  const question = request.messages.findLast(({ role }) => role === 'user');
  const asked = question ? normalized(textOf(question.content)) : '';
  const [first] = store.messages.range(scope, thread.id, { from: 1, to: 1 });
  const text = first ? normalized(textOf(first.message.content)) : '';
  return asked !== '' && text !== asked && text.includes(asked);
};

const expireAll = async (deps: Deps, scope: string, threads: readonly Thread[]): Promise<void> => {
  const at = expiryOf(deps);
  await Promise.all(
    threads.map(({ id, latest_run_id }) => deps.runtime.threads.expireAt(scope, id, { at, latest_run_id })),
  );
};
