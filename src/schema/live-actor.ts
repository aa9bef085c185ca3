import { z } from 'zod';

/** Actors as clients observe them: in a list, or as frames of a stream. */

const paths = 'path of the state, as in the definition of the statechart; one path for each parallel region';

export const LiveActor = z
  .object({
    id: z.string().meta({ description: '<machine>:<id>; identifies one actor at a time' }),
    machine: z.string().meta({ description: 'name of the statechart in the catalog' }),
    state: z.string().meta({ description: `${paths}, separated by spaces` }),
    tags: z.array(z.string()).meta({ description: 'tags of the state and its parents' }),
    since: z.int().meta({
      description: 'when the actor entered the state or, without an actor, when its record changed; in ms',
    }),
    parent: z.string().nullable().meta({ description: 'id of the parent actor' }),
    children: z.array(z.string()).meta({ description: 'ids of the live child actors' }),
    at_rest: z.boolean().meta({ description: 'the run waits in the store without an actor in this process' }),
  })
  .meta({ id: 'LiveActor', description: 'An actor with its statechart, state and parent.' });
/**
 * An actor of the service with its statechart and state. `since` is in milliseconds since the epoch.
 *
 * @example
 * ```ts
 * const describe = ({ id, state, at_rest }: LiveActor): string => `${id} (${at_rest ? 'stored' : 'live'}): ${state}`;
 * for await (const actor of client.actors.list({ machine: 'run' })) console.log(describe(actor));
 * ```
 */
export type LiveActor = z.infer<typeof LiveActor>;

export const ActorList = z
  .object({
    items: z
      .array(LiveActor)
      .meta({ description: 'may have fewer items than requested although more exist' }),
    total: z.int().nullable().meta({
      description:
        'total number, except for runs whose change is being written; null where the total would require reading each inactive run',
    }),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'ActorList', description: 'One page of actors.' });
/**
 * One page of actors. `total` is null where counting would require reading each run that waits.
 *
 * @example
 * ```ts
 * const { items, total }: ActorList = await client.actors.list({ machine: 'thread', limit: 20 });
 * console.log(`${items.length} of ${total ?? 'many'} threads`);
 * ```
 */
export type ActorList = z.infer<typeof ActorList>;

const time = z.int().meta({ description: 'ms' });

export const ActorFrame = z
  .discriminatedUnion('type', [
    LiveActor.extend({ type: z.literal('actor') }),
    LiveActor.extend({ type: z.literal('began') }),
    z.object({
      type: z.literal('transition'),
      actor: z.string(),
      machine: z.string(),
      from: z.string().meta({ description: 'previous state; equal to the new state when no state was left' }),
      event: z.string().meta({ description: 'event type as in the definition of the statechart' }),
      to: z.string(),
      transition: z
        .string()
        .meta({ description: 'id of the transition in the definition of the statechart' }),
      time,
    }),
    z.object({
      type: z.literal('ended'),
      actor: z.string(),
      machine: z.string(),
      state: z.string(),
      time,
    }),
  ])
  .meta({ id: 'ActorFrame', description: 'An event of an actor.' });
/**
 * One event of the stream of actors: an `actor` for each live one, then their changes. For a slow reader, an `actor`
 * with the current state replaces missed changes. Times are in milliseconds since the epoch.
 *
 * @example
 * ```ts
 * const describe = (frame: ActorFrame): string =>
 *   frame.type === 'transition' ? `${frame.actor}: ${frame.from} → ${frame.to}` : frame.type;
 * for await (const frame of client.actors.follow({ machine: 'run' })) console.log(describe(frame));
 * ```
 */
export type ActorFrame = z.infer<typeof ActorFrame>;
