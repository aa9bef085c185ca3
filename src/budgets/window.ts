import type { BudgetWindow } from '../schema/budget.ts';

/**
 * Calendar windows of budgets: the minute, hour, day, week or month of a time zone.
 *
 * Guarantees: windows follow each other without gaps and overlaps, also when the clocks of the zone change. A window
 * that would start in an hour that the zone skips starts after it.
 * Cost: some calls of `Intl` per new window; `to` says until when a result is valid.
 */

/** Milliseconds since the epoch; `to` is absent for a window that never ends. */
export type Period = { from: number; to: number | undefined };

type Calendar = { year: number; month: number; day: number; hour: number; minute: number };

const ALWAYS: Period = { from: 0, to: undefined };

/** Returns the window that contains the time. */
export const periodAt = (window: BudgetWindow | undefined, at: number): Period => {
  if (!window || window.every === 'total') return ALWAYS;
  const { every, zone = 'UTC' } = window;
  if (every === 'minute' || every === 'hour') return shortPeriod(every, zone, at);
  const start = startOf(every, wallClock(zone, at));
  return { from: instantOf(zone, start), to: instantOf(zone, nextStart(every, start)) };
};

/** The offset of a zone is constant within an hour, apart from changes at its boundaries. */
const shortPeriod = (every: 'minute' | 'hour', zone: string, at: number): Period => {
  const length = every === 'minute' ? MINUTE : 60 * MINUTE;
  const offset = offsetAt(zone, at);
  const from = Math.floor((at + offset) / length) * length - offset;
  return { from, to: from + length };
};

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const startOf = (every: 'day' | 'week' | 'month', { year, month, day }: Calendar): number => {
  if (every === 'month') return Date.UTC(year, month - 1, 1);
  const midnight = Date.UTC(year, month - 1, day);
  const sinceMonday = (new Date(midnight).getUTCDay() + 6) % 7;
  return every === 'day' ? midnight : midnight - sinceMonday * DAY;
};

/** Both are wall-clock times, written as if they were UTC. */
const nextStart = (every: 'day' | 'week' | 'month', start: number): number => {
  if (every !== 'month') return start + (every === 'day' ? DAY : 7 * DAY);
  const date = new Date(start);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
};

/** Returns the first instant at which the clocks of the zone show this wall-clock time or a later one. */
const instantOf = (zone: string, wall: number): number => {
  const before = offsetAt(zone, wall - DAY);
  const after = offsetAt(zone, wall + DAY);
  const [early, late] = before >= after ? [wall - before, wall - after] : [wall - after, wall - before];
  if (early + offsetAt(zone, early) === wall) return early;
  if (late + offsetAt(zone, late) === wall) return late;
  // The zone skips this time: the window starts when its offset changes.
  return changeBetween(zone, early, late);
};

/** Returns the instant at which the offset changes, to the minute. */
const changeBetween = (zone: string, early: number, late: number): number => {
  const offset = offsetAt(zone, early);
  let [low, high] = [early, late];
  while (high - low > MINUTE) {
    const middle = low + Math.floor((high - low) / 2 / MINUTE) * MINUTE;
    if (offsetAt(zone, middle) === offset) low = middle;
    else high = middle;
  }
  return high;
};

const offsetAt = (zone: string, at: number): number => {
  if (zone === 'UTC') return 0;
  const { year, month, day, hour, minute } = wallClock(zone, at);
  return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(at / MINUTE) * MINUTE;
};

const formats = new Map<string, Intl.DateTimeFormat>();

const wallClock = (zone: string, at: number): Calendar => {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
    formats.set(zone, format);
  }
  const calendar: Calendar = { year: 0, month: 0, day: 0, hour: 0, minute: 0 };
  for (const { type, value } of format.formatToParts(at)) {
    if (type in calendar) calendar[type as keyof Calendar] = Number(value);
  }
  return calendar;
};
