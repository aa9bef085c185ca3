import type { JsonObject } from '../../../data/guard.ts';
import { type AuditEvent, restorable, unmirrored } from '../../audit-log/audit-event.ts';

/** Versions of an agent, as its events tell them. */

/** What the agent was once the event had happened; of a deletion, before it. */
export const versionOf = (event: AuditEvent): JsonObject | undefined => {
  const spec = ['seed_apply', 'apply_failed'].includes(event.action) ? undefined : restorable(event);
  return unmirrored(spec);
};

/** At most two: a third takes the place of the one that was chosen first. */
export const withChosen = (chosen: readonly string[], id: string, wanted: boolean): string[] => {
  const others = chosen.filter((other) => other !== id);
  return wanted ? [...others, id].slice(-2) : others;
};

/** The older one first. Undefined unless there are two. */
export const comparedIn = (
  events: readonly AuditEvent[],
  chosen: readonly string[],
): { before: AuditEvent; after: AuditEvent } | undefined => {
  // Events come with the newest first.
  const [after, before] = events.filter(({ id }) => chosen.includes(id));
  return before && after ? { before, after } : undefined;
};
