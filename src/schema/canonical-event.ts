import { z } from 'zod';

/**
 * Canonical events: the durable log of a thread (runtime.md 13). The log stores the compact `LoggedEvent`; scopes and
 * cursors of the wire format follow from its position in the log.
 */

export const EventVisibility = z.enum(['public', 'internal', 'audit', 'sensitive']);
export type EventVisibility = z.infer<typeof EventVisibility>;

/** One row of the log of a thread, without its sequence number. */
export type LoggedEvent = {
  event_id: string;
  event_kind: string;
  payload: Record<string, unknown>;
  thread_id?: string;
  run_id?: string;
  causation_id?: string;
  correlation_id?: string;
  origin: string;
  visibility: EventVisibility;
  /** Milliseconds. */
  created_at: number;
};

const EventScope = z.discriminatedUnion('scope_type', [
  z.object({ scope_type: z.literal('thread'), thread_id: z.string() }),
  z.object({ scope_type: z.literal('run'), run_id: z.string() }),
]);

export const CanonicalEvent = z
  .object({
    event_id: z.string(),
    scopes: z.array(EventScope),
    cursors_by_scope: z.array(z.object({ scope: EventScope, cursor: z.string() })),
    event_kind: z.string(),
    payload: z.record(z.string(), z.unknown()),
    thread_id: z.string().optional(),
    run_id: z.string().optional(),
    causation_id: z.string().optional(),
    correlation_id: z.string().optional(),
    origin: z.string(),
    visibility: EventVisibility,
    schema_version: z.literal(1),
    created_at: z.int(),
  })
  .meta({ id: 'CanonicalEvent', description: 'An event of the durable log, by `event_kind`.' });
/**
 * An event of the durable log of a thread (runtime.md 13). `payload` depends on `event_kind`; a cursor continues the
 * log of its scope after the event. `created_at` is in milliseconds since the epoch.
 *
 * @example
 * ```ts
 * const cursorOf = ({ cursors_by_scope }: CanonicalEvent): string | undefined => cursors_by_scope[0]?.cursor;
 * for await (const event of client.events.follow({ threadId: 'first' })) console.log(cursorOf(event));
 * ```
 */
export type CanonicalEvent = z.infer<typeof CanonicalEvent>;
