import type { LoggedEvent } from '../../schema/canonical-event.ts';
import type { Path } from '../engine/answers.ts';
import { unshare, withShared } from '../engine/shared-strings.ts';

/**
 * The stored form of the events of one append: without the answers of their runs (`answers.ts`), without ids that
 * follow from the previous one, and with each repeated string only once. Rows of older versions are plain events.
 */

export type StoredEvents = LoggedEvent[] | PackedEvents;

/** The first part of a path is the index of the event. */
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

/**
 * Restores the events, without the answers of their runs. Modifies the value in place: it was just read and has no
 * other owner.
 */
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

/** In place of an id; no event has this id. */
const FOLLOWS = '';

/** Returns the id with the next number at its end. */
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

/** Returns the run that holds the text for this position. */
export const holderOf = (events: readonly LoggedEvent[], [index]: Path): string =>
  events[Number(index)]?.run_id ?? '';
