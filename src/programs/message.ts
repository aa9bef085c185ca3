import { z } from 'zod';
import { jsonOrUndefined } from '../schema/json-or-undefined.ts';
import { phrases, toProblem } from '../schema/phrases.ts';
import { LIMITS } from './limits.ts';

/**
 * Messages of a program about its actors: the public inspection protocol of XState 5, as `@statelyai/inspect` sends it
 * over a WebSocket, one JSON object per message. Other fields are neither parsed nor stored, so contexts, outputs and
 * the payloads of events are dropped.
 */

const Id = z.string().min(1).max(LIMITS.name);
const text = z.string().transform((whole) => whole.slice(0, LIMITS.name));

/** Actors without states have no value, and some have no snapshot. */
const Snapshot = z.object({ status: z.string().nullish(), value: z.unknown().optional() }).nullish();
export type Snapshot = z.output<typeof Snapshot>;

const Message = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('@xstate.actor'),
    sessionId: Id,
    parentId: Id.nullish(),
    name: text.nullish(),
    /** JSON of the configuration of the machine. */
    definition: z.string().nullish(),
    snapshot: Snapshot,
  }),
  z.object({
    type: z.literal('@xstate.snapshot'),
    sessionId: Id,
    /** The event that caused the snapshot. */
    event: z.object({ type: text }).nullish(),
    snapshot: Snapshot,
  }),
  // A snapshot follows, with the same event and the resulting state.
  z.object({ type: z.literal('@xstate.event'), sessionId: Id }),
]);
export type Message = z.output<typeof Message>;

/** Messages of newer clients that are not supported here are not errors. */
const Other = z.object({ type: z.string().startsWith('@xstate.') });

const KNOWN: ReadonlySet<unknown> = new Set(['@xstate.actor', '@xstate.snapshot', '@xstate.event']);

/** The message is undefined if it is ignored. */
export type Read = { message: Message | undefined } | { problem: string };

export const readMessage = (text: string): Read => {
  const value = jsonOrUndefined(text);
  if (value === undefined) return { problem: 'a message is not JSON' };
  const other = Other.safeParse(value);
  if (other.success && !KNOWN.has(other.data.type)) return { message: undefined };
  const result = Message.safeParse(value, phrases);
  if (result.success) return { message: result.data };
  const [issue] = result.error.issues;
  if (!issue) return { problem: 'a message is of no known kind' };
  const problem = toProblem(issue);
  return { problem: `a message is not of the protocol: ${problem.path.join('.')} ${problem.text}`.trim() };
};
