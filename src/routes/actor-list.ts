import { z } from 'zod';
import { type ActorFilter, tagged } from '../inspection/filter.ts';
import type { LiveActor } from '../schema/live-actor.ts';
import { RestPosition, type RunsAtRest, runsAtRest, type Sources } from './runs-at-rest.ts';

/**
 * Actors as a list: those that live, in the order in which they began, then the runs at rest.
 *
 * Guarantees, for one who turns the pages: an actor that lives all the time comes once, and so does a run that rests
 * all the time, whatever comes and goes meanwhile. Each page first has the actors that began since the one before, so
 * a run that gets an actor, or loses it, is never missed; it may come in both forms, and the later one is what it is.
 */

/** Where a page begins. */
export const ActorPosition = z.object({
  /** Behind this one of those that live. */
  live: z.number().nonnegative(),
  rest: RestPosition.optional(),
});
export type ActorPosition = z.infer<typeof ActorPosition>;

export type ActorListPage = { items: LiveActor[]; total: number | null; next?: ActorPosition };

export const listActors = (
  sources: Sources,
  scope: string,
  filter: ActorFilter,
  { from, limit }: { from: ActorPosition; limit: number },
): ActorListPage => {
  const { inspector } = sources;
  const live = inspector.list(scope, filter, from.live, limit);
  const resting = runsAtRest(sources, scope, filter);
  const total = totalOf(sources, scope, filter, resting);
  if (live.more) return { items: live.items, total, next: { ...from, live: live.at } };
  const rest = resting.page(from.rest, limit - live.items.length);
  const next = rest.next && { live: live.at, rest: rest.next };
  return { items: [...live.items, ...rest.items], total, ...(next && { next }) };
};

/** Runs that live and have a status in which others rest are in the lists of both. */
const totalOf = (
  { inspector }: Sources,
  scope: string,
  filter: ActorFilter,
  { sizes, isWhole }: RunsAtRest,
): number | null => {
  if (!isWhole) return null;
  const inBoth = sizes.map(({ status }) => tagged('run', status));
  const [live = 0, ...both] = inspector.count(scope, filter, [filter.state, ...inBoth]);
  return sizes.reduce((sum, { size }, index) => sum + Math.max(0, size - (both[index] ?? 0)), live);
};
