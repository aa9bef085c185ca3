import type { LoggedEvent } from '../schema/canonical-event.ts';
import type { Path } from './answers.ts';

/** A row whose events tell an answer, and where: the index of the event, then a path in it; see `answers.ts`. */
type HollowEvents = { events: LoggedEvent[]; places: Path[] };

export type StoredEvents = LoggedEvent[] | HollowEvents;

/** As they are stored, without the answers of their runs. */
export const eventsIn = (stored: StoredEvents): LoggedEvent[] =>
  Array.isArray(stored) ? stored : stored.events;

/** The runs that hold what the events tell, one for each place. */
export const holdersOf = (stored: StoredEvents): (string | undefined)[] =>
  Array.isArray(stored) ? [] : stored.places.map(([index]) => stored.events[Number(index)]?.run_id);
