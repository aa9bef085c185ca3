import type { JsonObject } from '../../../data/guard.ts';
import { type AuditEvent, restorable, unmirrored } from '../../audit-log/audit-event.ts';

/** Versions of an agent, derived from its audit events. */

/** The agent after the event, or before it for a deletion. */
export const versionOf = (event: AuditEvent): JsonObject | undefined => {
  const spec = ['seed_apply', 'apply_failed'].includes(event.action) ? undefined : restorable(event);
  return unmirrored(spec);
};

/** Keeps at most two selected events; a third replaces the one selected first. */
export const withChosen = (chosen: readonly string[], id: string, wanted: boolean): string[] => {
  const others = chosen.filter((other) => other !== id);
  return wanted ? [...others, id].slice(-2) : others;
};

/** The selected events, older first; undefined unless there are two. */
export const comparedIn = (
  events: readonly AuditEvent[],
  chosen: readonly string[],
): { before: AuditEvent; after: AuditEvent } | undefined => {
  // Events are sorted newest first.
  const [after, before] = events.filter(({ id }) => chosen.includes(id));
  return before && after ? { before, after } : undefined;
};
