import type { LoggedEvent } from '../schema/canonical-event.ts';
import type { Path } from './answers.ts';
import { unshare, withShared } from './shared-strings.ts';

/**
 * The events of one append as they are stored: without the answers of their runs (`answers.ts`), without ids that
 * follow from the one before, and with strings that repeat only once. Rows of older programs are the events as such.
 */

export type StoredEvents = LoggedEvent[] | PackedEvents;

/** Of a place the first part is the index of the event. */
type PackedEvents = { packed: LoggedEvent[]; places?: Path[] };

export const packEvents = (events: LoggedEvent[], places: Path[]): StoredEvents => {
  const packed = withShared(withoutFollowing(events));
  return places.length === 0 ? { packed } : { places, packed };
};

const withoutFollowing = (events: LoggedEvent[]): LoggedEvent[] => {
  let before = '';
  return events.map((event) => {
    const { event_id } = event;
    const copy = { ...event };
    if (isFollowing(event_id, before)) copy.event_id = FOLLOWS;
    before = event_id;
    return copy;
  });
};

/** Without the answers of their runs. What is stored was just read and is nobody else's. */
export const eventsIn = (stored: StoredEvents): LoggedEvent[] => {
  if (Array.isArray(stored)) return stored;
  const { packed } = stored;
  unshare(packed);
  let before = '';
  for (const event of packed) {
    if (event.event_id === FOLLOWS) event.event_id = following(before);
    before = event.event_id;
  }
  return packed;
};

/** In place of an id; no event has it. */
const FOLLOWS = '';

/** The id with the next number at its end. */
const following = (id: string): string => {
  const end = id.lastIndexOf('_') + 1;
  return `${id.slice(0, end)}${Number(id.slice(end)) + 1}`;
};

const isFollowing = (id: string, before: string): boolean => {
  const end = before.lastIndexOf('_') + 1;
  return end > 1 && id.startsWith(before.slice(0, end)) && id === following(before);
};

export const placesIn = (stored: StoredEvents): readonly Path[] =>
  Array.isArray(stored) ? [] : (stored.places ?? []);

/** The run that holds what belongs into a place. */
export const holderOf = (events: readonly LoggedEvent[], [index]: Path): string =>
  events[Number(index)]?.run_id ?? '';
