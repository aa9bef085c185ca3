import { type Guarded, list, number, object } from '../data/guard.ts';
import type { Resource } from '../data/queries.ts';
import { send } from '../data/request.ts';
import { Run } from './run.ts';

/**
 * The newest runs first. The service lists runs from the oldest on and says how many there are, so the newest are at
 * the end of its list.
 */

/** The most that the service gives at once. */
const PAGE = 200;

const RunPage = object({ items: list(Run), total: number });

/** `total`: how many there are in all, of which `items` are the newest. */
export type NewestRuns = Guarded<typeof RunPage>;

export type RunsFilter = { status?: string | undefined; thread?: string | undefined };

const pathFor = ({ thread }: RunsFilter): string =>
  thread === undefined ? '/v1/runs' : `/v1/threads/${encodeURIComponent(thread)}/runs`;

const readNewest = async (filter: RunsFilter, most: number, signal: AbortSignal): Promise<unknown> => {
  const path = pathFor(filter);
  const read = (offset: number, limit: number) =>
    send({ path, query: { status: filter.status, offset, limit }, signal }, RunPage);
  const first = await read(0, PAGE);
  if (first.total <= first.items.length) return { items: first.items.reverse(), total: first.total };
  const items: Run[] = [];
  for (let end = first.total; end > 0 && items.length < most; end -= PAGE) {
    const start = Math.max(0, end - PAGE);
    const page = start === 0 ? first : await read(start, PAGE);
    items.push(...page.items.slice(0, end - start).reverse());
  }
  return { items: items.slice(0, most), total: first.total };
};

/** @param most of them; more are read in slices of 200 */
export const newestRuns = (filter: RunsFilter, most: number, every?: number): Resource<NewestRuns> => ({
  path: pathFor(filter),
  query: { status: filter.status, newest: most },
  guard: RunPage,
  read: (signal) => readNewest(filter, most, signal),
  every,
});
