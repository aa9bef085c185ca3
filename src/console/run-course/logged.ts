import { list } from '../data/guard.ts';
import { type Resource, useResource } from '../data/queries.ts';
import { readPages } from '../data/read-pages.ts';
import { pathOf } from '../data/request.ts';
import { EventPage, LogEvent } from '../event-log/event.ts';
import type { Course } from './moments.ts';
import { useCourse } from './use-course.ts';

/** The course of a run from its event log, read once: for a run that this page has not followed from its start. */

const PAGE = 200;
const MOST_PAGES = 10;

const readAll = async (path: string, signal: AbortSignal): Promise<LogEvent[]> => {
  const found: LogEvent[] = [];
  const request = { path, query: { limit: PAGE }, signal };
  for await (const { items } of readPages(request, EventPage, MOST_PAGES)) found.push(...items);
  return found;
};

const eventsOf = (runId: string): Resource<LogEvent[]> => ({
  path: pathOf`/v1/runs/${runId}/events`,
  query: { all: true },
  guard: list(LogEvent),
  read: (signal) => readAll(pathOf`/v1/runs/${runId}/events`, signal),
});

const NONE: readonly LogEvent[] = [];

/** Without moments while there is no run, and until its log is read. */
export const useLogged = (runId: string | undefined): Course => {
  const { data = NONE } = useResource(eventsOf(runId ?? ''), runId !== undefined);
  return useCourse(runId === undefined ? NONE : data);
};
