import { z } from 'zod';
import { listReply } from '../http/list-reply.ts';
import { placeOfListed } from '../identity/access/own.ts';
import { Invalid } from '../schema/outcome.ts';
import { Cursor, Limit, Offset } from '../schema/paging.ts';
import type { Place } from '../schema/place.ts';
import type { Principal } from '../schema/principal.ts';
import { type ListedRun, type Run, RunStatus } from '../schema/run.ts';
import { RUN_OUTCOMES, RUN_SORTS } from '../schema/run-query.ts';
import { type RunRecord, wireRun } from '../schema/run-state.ts';
import { type Position, Position as PositionSchema } from '../store/index.ts';
import { choice } from './choice.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { Instant } from './parameters.ts';
import { createPreview, createTextSearch, inputOf, PreviewQuery, SearchQuery } from './previews.ts';
import type { RouteDeps } from './route-deps.ts';

/** Lists of the runs of a scope or a thread: filters, orders and pages (runtime.md 5.2). */

const Status = choice(RunStatus.options, (given) => new Invalid(`invalid status filter: ${given}`));

const Outcome = choice(RUN_OUTCOMES, (given) => new Invalid(`invalid outcome filter: ${given}`));

export const OutcomeQuery = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(Outcome))
  .optional()
  .meta({
    description: `only runs that ended so: one or several of ${RUN_OUTCOMES.join(', ')}, separated by commas`,
  });

export const ListQuery = z.object({
  offset: Offset,
  limit: Limit,
  cursor: Cursor,
  status: Status.optional().meta({ description: 'only runs with this status' }),
  outcome: OutcomeQuery,
  agent_id: z.string().optional().meta({ description: 'only runs that were requested from this agent' }),
  created_after: Instant.optional().meta({ description: 'RFC 3339, inclusive' }),
  created_before: Instant.optional().meta({ description: 'RFC 3339, exclusive' }),
  q: SearchQuery,
  sort: z.enum(RUN_SORTS).optional().meta({
    description:
      'order; default `created`. By duration, tokens and cost, only the 1,000 runs that changed last are sorted',
  }),
  preview: PreviewQuery,
});
export type ListQuery = z.output<typeof ListQuery>;

export const listRuns = (
  { store, access, clock }: RouteDeps,
  principal: Principal,
  query: ListQuery,
  thread?: Place,
) => {
  const { scope } = principal;
  const { status, outcome, agent_id, created_after, created_before, q, sort, preview, limit } = query;
  const filter = {
    ...(thread && { thread_id: thread.id }),
    ...(status !== undefined && { status }),
    ...(outcome !== undefined && { outcomes: outcome }),
    ...(agent_id !== undefined && { agent_id }),
    ...(created_after !== undefined && { created_after }),
    ...(created_before !== undefined && { created_before }),
  };
  const bound = { ...filter, ...(q !== undefined && { q }), ...(sort !== undefined && { sort }) };
  const page = store.runs.list(
    thread?.scope ?? access.lists(principal),
    filter,
    {
      limit,
      ...startOf(query, bound),
      ...(sort && { sort }),
      text: q === undefined ? undefined : createRunSearch(store, scope, q),
      now: clock.now(),
    },
    shownTo(access, principal, preview === 'true' ? withPreview(store, scope) : wireRun),
  );
  return listReply('items', page.texts, {
    total: page.total,
    ...(page.searched !== undefined && { searched: page.searched }),
    has_more: page.next !== undefined,
    next_cursor: page.next === undefined ? null : encodeCursor('run_', page.next, bound),
    ...(page.prev !== undefined && { prev_cursor: encodeCursor('run_', page.prev, bound) }),
  });
};

const shownTo =
  (access: RouteDeps['access'], principal: Principal, view: (run: RunRecord) => ListedRun) =>
  (run: RunRecord): ListedRun => {
    const listed = view(run);
    return { ...listed, ...access.shownRun(principal, listed) };
  };

/** Creates the search of one page. */
export const createRunSearch = (store: RouteDeps['store'], scope: string, q: string) => {
  const search = createTextSearch(store, q);
  return {
    isSpent: search.isSpent,
    /** @param others texts of the row that are not part of the run */
    matches(run: Run, others: readonly (string | undefined)[] = []): boolean {
      const { run_id, thread_id, agent_id, owner } = run;
      const input = inputOf(run);
      const thread = placeOfListed({ scope }, { owner, id: input?.thread_id ?? thread_id });
      const texts = [run_id, thread_id, agent_id, ...others];
      return search.matches({ texts, thread, bounds: input?.bounds });
    },
  };
};

export const withPreview = (store: RouteDeps['store'], scope: string) => {
  const preview = createPreview(store);
  return (run: RunRecord): ListedRun => {
    const input = inputOf(run);
    const thread = placeOfListed({ scope }, { owner: run.owner, id: input?.thread_id ?? run.thread_id });
    return { ...wireRun(run), preview: input ? preview(thread, input.bounds) : null };
  };
};

const startOf = ({ cursor, offset }: ListQuery, filters: object): { offset: number; after?: Position } => {
  if (cursor === undefined) return { offset };
  const start = decodeCursor(cursor, {
    prefix: 'run_',
    kind: 'run',
    filters,
    filtered: Object.keys(filters).some((name) => name !== 'thread_id'),
    position: PositionSchema,
  });
  return 'offset' in start ? start : { offset: 0, after: start.position };
};
