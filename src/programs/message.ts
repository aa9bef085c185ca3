import { z } from 'zod';
import { phrases, problemOf } from '../schema/phrases.ts';
import { LIMITS } from './limits.ts';

/**
 * What a program says of its actors: the public inspection protocol of XState 5, as `@statelyai/inspect` writes it on
 * a WebSocket, one JSON object a message. What other fields a message has is not looked at, and so not kept: contexts,
 * outputs and the payloads of events stay where they are.
 */

const Id = z.string().min(1).max(LIMITS.name);
const text = z.string().transform((whole) => whole.slice(0, LIMITS.name));

/** Of an actor that is no machine there is no value, and of some no snapshot. */
const Snapshot = z.object({ status: z.string().nullish(), value: z.unknown().optional() }).nullish();
export type Snapshot = z.output<typeof Snapshot>;

const Message = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('@xstate.actor'),
    sessionId: Id,
    parentId: Id.nullish(),
    name: text.nullish(),
    /** JSON of the configuration of its machine. */
    definition: z.string().nullish(),
    snapshot: Snapshot,
  }),
  z.object({
    type: z.literal('@xstate.snapshot'),
    sessionId: Id,
    /** What brought it there. */
    event: z.object({ type: text }).nullish(),
    snapshot: Snapshot,
  }),
  // A snapshot follows, with the same event and what came of it.
  z.object({ type: z.literal('@xstate.event'), sessionId: Id }),
]);
export type Message = z.output<typeof Message>;

/** What clients send that tell more than this one does is no mistake of theirs. */
const Other = z.object({ type: z.string().startsWith('@xstate.') });

const KNOWN: ReadonlySet<unknown> = new Set(['@xstate.actor', '@xstate.snapshot', '@xstate.event']);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Undefined: nothing that is looked at. */
export type Read = { message: Message | undefined } | { problem: string };

export const readMessage = (text: string): Read => {
  const value = parsed(text);
  if (value === undefined) return { problem: 'a message is not JSON' };
  const other = Other.safeParse(value);
  if (other.success && !KNOWN.has(other.data.type)) return { message: undefined };
  const result = Message.safeParse(value, phrases);
  if (result.success) return { message: result.data };
  const [issue] = result.error.issues;
  if (!issue) return { problem: 'a message is of no known kind' };
  const problem = problemOf(issue);
  return { problem: `a message is not of the protocol: ${problem.path.join('.')} ${problem.text}`.trim() };
};
