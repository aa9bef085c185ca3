import { z } from 'zod';
import { type ActorFilter, tagged } from '../inspection/filter.ts';
import type { LiveActor } from '../schema/live-actor.ts';
import { findInactiveRuns, InactivePosition, type InactiveRuns, type Sources } from './inactive-runs.ts';

/**
 * Lists actors: live ones in the order of their start, then runs without an actor.
 *
 * Guarantees for a reader of all pages: an actor that stays live appears once, and so does a run that stays inactive,
 * whatever happens to others. Each page starts with the actors that have started since the previous page. So a run that
 * gains or loses its actor is never missed; it may appear in both forms, and the later one is current.
 */

/** Start position of a page. */
export const ActorPosition = z.object({
  /** Position of the last listed live actor. */
  live: z.number().nonnegative(),
  rest: InactivePosition.optional(),
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
  const inactive = findInactiveRuns(sources, scope, filter);
  const total = totalOf(sources, scope, filter, inactive);
  if (live.more) return { items: live.items, total, next: { ...from, live: live.at } };
  const rest = inactive.page(from.rest, limit - live.items.length);
  const next = rest.next && { live: live.at, rest: rest.next };
  return { items: [...live.items, ...rest.items], total, ...(next && { next }) };
};

/** Runs with an actor and one of these statuses are in both lists, so they are subtracted once. */
const totalOf = (
  { inspector }: Sources,
  scope: string,
  filter: ActorFilter,
  { sizes, isWhole }: InactiveRuns,
): number | null => {
  if (!isWhole) return null;
  const inBoth = sizes.map(({ status }) => tagged('run', status));
  const [live = 0, ...both] = inspector.count(scope, filter, [filter.state, ...inBoth]);
  return sizes.reduce((sum, { size }, index) => sum + Math.max(0, size - (both[index] ?? 0)), live);
};
