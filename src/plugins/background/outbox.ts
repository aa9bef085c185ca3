import type { StateUpdate, StateView } from '../../tools/state.ts';
import { update } from '../../tools/state.ts';
import { failedMessages, messageOutbox, type OutboxMessage } from './state.ts';

/**
 * The outbox of a thread. Delivered messages are removed; after MAX_ATTEMPTS failures a message moves to the failed
 * list.
 */

const MAX_ATTEMPTS = 5;

export const outboxOf = (state: StateView): readonly OutboxMessage[] => state.get(messageOutbox) ?? [];

export const failedOf = (state: StateView): readonly OutboxMessage[] => state.get(failedMessages) ?? [];

export const queued = (state: StateView, message: OutboxMessage): StateUpdate =>
  update(messageOutbox, [...outboxOf(state), message]);

/**
 * Applies the outcome of one delivery attempt per message. Messages without an outcome were not tried and stay queued.
 */
export const attempted = (
  state: StateView,
  outcomes: ReadonlyMap<string, 'delivered' | { error: string }>,
): StateUpdate[] => {
  const undelivered: OutboxMessage[] = [];
  const failed: OutboxMessage[] = [];
  for (const message of outboxOf(state)) {
    const outcome = outcomes.get(message.message_id);
    if (outcome === 'delivered') continue;
    if (!outcome) undelivered.push(message);
    else {
      const tried = { ...message, attempts: message.attempts + 1, last_error: outcome.error };
      (tried.attempts < MAX_ATTEMPTS ? undelivered : failed).push(tried);
    }
  }
  const changes = [update(messageOutbox, undelivered)];
  return failed.length === 0
    ? changes
    : [...changes, update(failedMessages, [...failedOf(state), ...failed])];
};

export const replayed = (state: StateView): StateUpdate[] => {
  const again = failedOf(state).map(({ last_error: _error, ...message }) => ({ ...message, attempts: 0 }));
  return [update(messageOutbox, [...outboxOf(state), ...again]), update(failedMessages, [])];
};

export const cleared = (): StateUpdate[] => [update(failedMessages, [])];
