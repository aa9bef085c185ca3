import { z } from 'zod';
import { jsonOfEach, listReply, longListReply } from '../http/list-reply.ts';
import { plainText, reply, route } from '../http/route.ts';
import type { Traces } from '../observability/traces/traces.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Invalid } from '../schema/outcome.ts';
import { Cursor, count } from '../schema/paging.ts';
import type { Principal } from '../schema/principal.ts';
import { outcomeOf } from '../schema/run-query.ts';
import { TraceList, type TraceSummary } from '../schema/trace.ts';
import { Position } from '../store/index.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { RunId } from './parameters.ts';
import { SearchQuery } from './previews.ts';
import type { RouteDeps } from './route-deps.ts';
import { createRunSearch, OutcomeQuery, withPreview } from './run-list.ts';

/** The traces of observed runs, event by event (evals-and-traces.md 9). */

const atLeastOne = count.transform(Number).pipe(z.int().min(1));

const instant = z.iso.datetime({ offset: true });

const MOST_TRACES = 200;

const TraceQuery = z.strictObject({
  agent_id: z.string().optional().meta({ description: 'only traces with this value' }),
  prompt_id: z.string().optional().meta({ description: 'model of any inference' }),
  experiment_id: z.string().optional().meta({ description: 'only traces with this value' }),
  variant_name: z.string().optional().meta({ description: 'only traces with this value' }),
  since: z.string().optional().meta({ description: 'RFC 3339, inclusive' }),
  limit: atLeastOne.optional().meta({ description: `default: all; with \`run\`, at most ${MOST_TRACES}` }),
  run: z.literal('true').optional().meta({
    description: 'a page of traces with their runs; required by the parameters below',
  }),
  stored: z.literal('true').optional().meta({
    description: 'only traces of runs of the scope; others are replays of evaluations',
  }),
  outcome: OutcomeQuery,
  q: SearchQuery,
  cursor: Cursor,
});
type TraceQuery = z.output<typeof TraceQuery>;

const MOST_LINES = 1000;

const PageQuery = z.strictObject({
  offset: count.transform(Number).optional().meta({ description: 'events to skip' }),
  limit: atLeastOne
    .optional()
    .meta({ description: `at most and by default ${MOST_LINES}; a page of long events ends before it` }),
});

const TraceParams = z.object({ run_id: RunId });

/** The routes exist only if they are exposed. */
export const traceRoutes = (deps: Pick<RouteDeps, 'traces' | 'settings'> & TraceDeps) =>
  deps.traces && deps.settings.AdminApiConfig.expose_trace_routes ? routesOf(deps, deps.traces) : [];

type TraceDeps = Pick<RouteDeps, 'store' | 'access'>;

const routesOf = (deps: TraceDeps, traces: Traces) => [
  route.get('/v1/traces', {
    id: 'listTraces',
    summary: 'Traces of ended runs, newest first',
    description: 'Only observed runs have traces; traces that are not pinned expire.',
    tag: 'traces',
    needs: 'observe',
    query: TraceQuery,
    responses: { 200: TraceList },
    handle({ principal, query }) {
      if (query.run) return searchTraces(deps, traces, principal, query);
      const { stored, outcome, q, cursor, run: _none, ...filter } = query;
      if (stored || outcome || q || cursor)
        throw new Invalid('stored, outcome, q and cursor require run=true');
      return longListReply('runs', jsonOfEach(traces.list({ ...filter, since: sinceOf(query.since) })));
    },
  }),
  route.get('/v1/traces/:run_id', {
    id: 'getTrace',
    summary: 'Events of a trace in order, one per line',
    description: 'Headers contain the total and the start of the next page.',
    tag: 'traces',
    needs: 'observe',
    params: TraceParams,
    query: PageQuery,
    responses: {
      200: {
        description: 'The events, one JSON object per line.',
        content: { 'application/x-ndjson': z.string() },
        headers: {
          'X-Trace-Total-Events': 'How many events the trace has.',
          'X-Trace-Next-Offset': 'The `offset` of the next page; missing on the last one.',
        },
      },

      404: ErrorBody,
    },
    handle({ params, query: { offset = 0, limit = MOST_LINES } }) {
      const { lines, total } = traces.page(params.run_id, offset, Math.min(limit, MOST_LINES));
      const next = offset + lines.length;
      const text = lines.length === 0 ? '' : `${lines.join('\n')}\n`;
      return {
        ...plainText(text, 'application/x-ndjson'),
        headers: {
          'x-trace-total-events': String(total),
          ...(next < total && { 'x-trace-next-offset': String(next) }),
        },
      };
    },
  }),
  route.post('/v1/traces/:run_id/pin', {
    id: 'pinTrace',
    summary: 'Pin a trace',
    description: 'A pinned trace does not expire. Pinning cannot be undone.',
    tag: 'traces',
    needs: 'evaluate',
    params: TraceParams,
    responses: { 204: 'pinned', 404: ErrorBody },
    async handle({ params }) {
      await traces.pin(params.run_id);
      return reply(204);
    },
  }),
];

/** A page of traces, each with its run, from which the outcome is. */
const searchTraces = (
  { store, access }: TraceDeps,
  traces: Traces,
  principal: Principal,
  query: TraceQuery,
) => {
  const { scope } = principal;
  const runOf = (run_id: string) => {
    const place = access.run(principal, run_id, 'read');
    return store.runs.get(place.scope, place.id);
  };
  const { limit = 50, stored, outcome, q, cursor, run: _joined, ...given } = query;
  const filters = { ...query, limit: undefined, cursor: undefined };
  const start = cursor === undefined ? { offset: 0 } : decodeCursor(cursor, { ...CURSOR, filters });
  const search = q === undefined ? undefined : createRunSearch(store, scope, q);
  const withWords = withPreview(store, scope);
  const wanted = ({ run_id, agent_id, prompt_ids }: TraceSummary): boolean => {
    const run = runOf(run_id);
    if (!run) return !stored && !outcome && hasWords([run_id, agent_id, ...prompt_ids], q);
    const end = outcomeOf(run);
    if (outcome && !(end && outcome.includes(end))) return false;
    return search?.matches(run, prompt_ids) ?? true;
  };
  const shown = (summary: TraceSummary) => {
    const run = runOf(summary.run_id);
    return { ...summary, run: run ? withWords(run) : null };
  };
  const position = 'position' in start ? { offset: 0, after: start.position } : start;
  const page = traces.search(
    { ...given, since: sinceOf(given.since) },
    { ...position, limit: Math.min(limit, MOST_TRACES) },
    { shown, wanted, isSpent: () => search?.isSpent() ?? false },
  );
  return listReply('runs', page.texts, {
    total: page.total,
    searched: page.searched,
    has_more: page.next !== undefined,
    next_cursor: page.next === undefined ? null : encodeCursor(CURSOR.prefix, page.next, filters),
  });
};

const CURSOR = { prefix: 'tr_', kind: 'trace', filtered: true, position: Position } as const;

const hasWords = (texts: readonly string[], query = ''): boolean => {
  const whole = texts.join('\n').toLowerCase();
  return query.split(/\s+/).every((word) => whole.includes(word));
};

const sinceOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const parsed = instant.safeParse(text);
  if (parsed.success) return Date.parse(parsed.data);
  const detail = parsed.error.issues.map(({ message }) => message).join('; ');
  throw new Invalid('invalid `since` query parameter; expected RFC 3339 timestamp', { details: { detail } });
};
