import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { InferenceRequest } from '../models/model.ts';
import { contextMessageId } from '../plugins/context/placed.ts';
import type { ContextMessage, ContextTarget } from '../plugins/plugin.ts';
import type { Message } from '../schema/message.ts';
import { defineState, type StateUpdate, type StateView, update } from '../tools/state.ts';

/**
 * Context messages of a run (agent-loop.md 9.1, 9.2): text that the model receives in addition to the history.
 *
 * Guarantees: one message per key, the newest; equal store, throttle and step result in the same messages in the same
 * order; a message leaves the store only after it was injected, so one in its cooldown is kept.
 * Relies on both values being state of the run, so that a run that is resumed after a crash repeats no message early.
 * Cost: one pass and a sort over the few messages; a hash for those with a cooldown.
 */

const StoredMessage: z.ZodType<ContextMessage> = z.object({
  key: z.string(),
  content: z.string(),
  target: z.enum(['system', 'session', 'conversation', 'suffix_system']),
  role: z.enum(['system', 'user']).optional(),
  cooldown_turns: z.int().nonnegative().optional(),
  persistent: z.boolean().optional(),
  priority: z.number().optional(),
});

const ContextStore = z.object({ messages: z.array(StoredMessage) });
export type ContextStore = z.infer<typeof ContextStore>;

export const contextStore = defineState({
  key: '__runtime.context_message_store',
  scope: 'run',
  schema: ContextStore,
});

/** The last injection of a message with a cooldown, by key. */
const ContextThrottle = z.record(z.string(), z.object({ last_step: z.int(), hash: z.string() }));
export type ContextThrottle = z.infer<typeof ContextThrottle>;

export const contextThrottle = defineState({
  key: '__runtime.context_throttle',
  scope: 'run',
  schema: ContextThrottle,
});

export const upsertContext = (store: ContextStore, added: readonly ContextMessage[]): ContextStore => {
  if (added.length === 0) return store;
  const byKey = new Map([...store.messages, ...added].map((message) => [message.key, message]));
  return { messages: [...byKey.values()] };
};

export type Injection = { due: ContextMessage[]; store: ContextStore; throttle: ContextThrottle };

/** Returns the messages of a step in the order of the request, and the state after their injection. */
export const dueForInjection = (store: ContextStore, throttle: ContextThrottle, step: number): Injection => {
  const injected: [string, ContextThrottle[string]][] = [];
  const held: ContextMessage[] = [];
  const due: ContextMessage[] = [];
  for (const message of store.messages) {
    const cooldown = message.cooldown_turns ?? 0;
    const hash = cooldown > 0 ? hashOf(message.content) : '';
    const last = Object.hasOwn(throttle, message.key) ? throttle[message.key] : undefined;
    if (cooldown > 0 && last?.hash === hash && step - last.last_step < cooldown) {
      held.push(message);
      continue;
    }
    due.push(message);
    if (cooldown > 0) injected.push([message.key, { last_step: step, hash }]);
  }
  if (due.length === 0) return { due, store, throttle };
  return {
    due: due.toSorted(byPlace),
    store: { messages: [...held, ...due.filter(({ persistent }) => persistent === true)] },
    throttle: injected.length === 0 ? throttle : { ...throttle, ...Object.fromEntries(injected) },
  };
};

/** Returns the messages that a step injects from the store and from scheduled actions, and the changed state. */
export const injectContext = (
  view: StateView,
  added: readonly ContextMessage[],
  step: number,
): { due: readonly ContextMessage[]; state: readonly StateUpdate[] } => {
  const before = view.get(contextStore) ?? { messages: [] };
  const throttled = view.get(contextThrottle) ?? {};
  const upserted = upsertContext(before, added);
  const { due, store, throttle } = dueForInjection(upserted, throttled, step);
  // Messages that are added and injected within one step require no write.
  const wasEmpty = before.messages.length === 0 && store.messages.length === 0;
  return {
    due,
    state: [
      ...(store === before || wasEmpty ? [] : [update(contextStore, store)]),
      ...(throttle === throttled ? [] : [update(contextThrottle, throttle)]),
    ],
  };
};

const hashOf = (content: string): string => createHash('sha256').update(content).digest('hex').slice(0, 16);

const PLACE: Record<ContextTarget, number> = { system: 0, session: 1, conversation: 2, suffix_system: 3 };

const byPlace = (a: ContextMessage, b: ContextMessage): number =>
  PLACE[a.target] - PLACE[b.target] ||
  (a.priority ?? 0) - (b.priority ?? 0) ||
  (a.key < b.key ? -1 : Number(a.key > b.key));

/**
 * Returns the system texts and messages of a request, in the order of agent-loop.md 9.1.
 *
 * @param due in the order of `dueForInjection`
 */
export const placeContext = (
  systemPrompt: string,
  due: readonly ContextMessage[],
  history: readonly Message[],
): Pick<InferenceRequest, 'system' | 'messages'> => {
  const suffix = due.findIndex(({ target }) => target === 'suffix_system');
  const before = suffix < 0 ? due : due.slice(0, suffix);
  const after = suffix < 0 ? [] : due.slice(suffix);
  // System texts come first in a request, so only those before the first user text may be placed there.
  const user = before.findIndex(({ role }) => role === 'user');
  const opening = user < 0 ? before : before.slice(0, user);
  const rest = user < 0 ? [] : before.slice(user);
  return {
    system: [systemPrompt, ...opening.map(({ content }) => content)].filter((text) => text !== ''),
    messages:
      rest.length + after.length === 0
        ? history
        : [...rest.map(messageOf), ...history, ...after.map(messageOf)],
  };
};

const messageOf = ({ key, content, role = 'system' }: ContextMessage): Message => ({
  id: contextMessageId(key),
  role,
  content: [{ type: 'text', text: content }],
  visibility: 'internal',
});
