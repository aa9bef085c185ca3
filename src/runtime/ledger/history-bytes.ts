import type { Message } from '../../schema/message.ts';
import { TooLarge } from '../../schema/outcome.ts';
import { historyOf, type Ledger } from './ledger.ts';

/**
 * The size of the messages of a thread, and its limit.
 *
 * A run loads the whole history and sends it to its model, so the limit keeps each run affordable and each request
 * shorter than the longest string of the platform. The last message row contains the running total, so reading it
 * requires no other row; messages of older versions have none and are counted once per actor.
 */

/** Returns the approximate number of bytes of its JSON. */
export const messageBytes = (message: Message): number => bytesOf(message);

const bytesOf = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value) + QUOTES;
  if (typeof value !== 'object' || value === null) return SCALAR;
  let bytes = QUOTES;
  if (Array.isArray(value)) for (const item of value) bytes += bytesOf(item) + 1;
  else for (const [key, item] of Object.entries(value)) bytes += key.length + QUOTES + bytesOf(item) + 2;
  return bytes;
};

const QUOTES = 2;
const SCALAR = 4;

/** Returns the number of bytes of all messages in the history. */
export const historyBytes = (ledger: Ledger): number => {
  const { tail } = ledger;
  if (tail.bytes !== undefined) return tail.bytes;
  let bytes = 0;
  for (const message of historyOf(ledger)) bytes += messageBytes(message);
  ledger.tail = { seq: tail.seq, external: tail.external, bytes };
  return bytes;
};

/** @throws TooLarge when the thread would exceed its limit with these messages */
export const refuseExcess = (ledger: Ledger, added: readonly { content: unknown }[], limit: number): void => {
  if (added.length === 0) return;
  let held = historyBytes(ledger);
  for (const { message } of ledger.pending) held += messageBytes(message);
  const more = bytesOf(added);
  if (held + more > limit) {
    throw new TooLarge(
      `thread '${ledger.id}' holds ${inMib(held)} MiB of messages and takes no ${inMib(more)} MiB more: at most ` +
        `${inMib(limit)} MiB are allowed (thread_limit_bytes); continue in a new thread`,
    );
  }
};

export const inMib = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);
