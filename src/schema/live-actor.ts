import { z } from 'zod';

/** Actors as those who watch them see them: as a list, and as the frames of a stream. */

const paths = 'path of the state, as in the description of the machine; of parallel regions one each';

export const LiveActor = z
  .object({
    id: z.string().meta({ description: '<machine>:<id>; names one actor at a time' }),
    machine: z.string().meta({ description: 'its name in the catalogue' }),
    state: z.string().meta({ description: `${paths}, with a space between` }),
    tags: z.array(z.string()).meta({ description: 'of the state and of those around it' }),
    since: z
      .int()
      .meta({ description: 'when it entered the state; at rest, when its record changed; in ms' }),
    parent: z.string().nullable().meta({ description: 'id of the actor that it works for' }),
    children: z.array(z.string()).meta({ description: 'ids of the live actors that work for it' }),
    at_rest: z.boolean().meta({ description: 'it waits in the store and has no actor in this process' }),
  })
  .meta({ id: 'LiveActor', description: 'An actor: which statechart, in which state, for whom.' });
export type LiveActor = z.infer<typeof LiveActor>;

export const ActorList = z
  .object({
    items: z.array(LiveActor).meta({ description: 'may be fewer than asked for, with more to come' }),
    total: z.int().nullable().meta({
      description:
        'how many there are in all, give or take runs whose change is being written; null where only reading each run at rest would tell',
    }),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'ActorList', description: 'One page of actors.' });
export type ActorList = z.infer<typeof ActorList>;

const time = z.int().meta({ description: 'ms' });

/**
 * One `data:` line of the stream: an `actor` for each live one, from then on what happens. To a reader that was too
 * slow for that, an `actor` says where one stands now, in place of what was missed.
 */
export const ActorFrame = z
  .discriminatedUnion('type', [
    LiveActor.extend({ type: z.literal('actor') }),
    LiveActor.extend({ type: z.literal('began') }),
    z.object({
      type: z.literal('transition'),
      actor: z.string(),
      machine: z.string(),
      from: z.string().meta({ description: 'state before; the same as after when none was left' }),
      event: z.string().meta({ description: 'as in the description of the machine' }),
      to: z.string(),
      transition: z.string().meta({ description: 'its id in the description of the machine' }),
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
  .meta({ id: 'ActorFrame', description: 'What happens to actors.' });
export type ActorFrame = z.infer<typeof ActorFrame>;
