import { z } from 'zod';
import { jsonOfEach, longListReply } from '../http/list-reply.ts';
import { plainText, reply, route } from '../http/route.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Invalid } from '../schema/outcome.ts';
import { count } from '../schema/paging.ts';
import { TraceList } from '../schema/trace.ts';
import type { Traces } from '../traces/traces.ts';
import { RunId } from './parameters.ts';
import type { Rooms } from './rooms.ts';

/** What observed runs did, event by event (evals-and-traces.md 9). */

const atLeastOne = count.transform(Number).pipe(z.int().min(1));

const instant = z.iso.datetime({ offset: true });

const TraceQuery = z.strictObject({
  agent_id: z.string().optional().meta({ description: 'only traces with this one' }),
  prompt_id: z.string().optional().meta({ description: 'of any of its inferences' }),
  experiment_id: z.string().optional().meta({ description: 'only traces with this one' }),
  variant_name: z.string().optional().meta({ description: 'only traces with this one' }),
  since: z.string().optional().meta({ description: 'RFC 3339, inclusive' }),
  limit: atLeastOne.optional().meta({ description: 'default: all' }),
});

const MOST_LINES = 1000;

const PageQuery = z.strictObject({
  offset: count.transform(Number).optional().meta({ description: 'events to skip' }),
  limit: atLeastOne
    .optional()
    .meta({ description: `at most and by default ${MOST_LINES}; a page of long events ends before it` }),
});

const TraceParams = z.object({ run_id: RunId });

/** There when they are exposed. */
export const traceRoutes = ({ traces, settings }: Pick<Rooms, 'traces' | 'settings'>) =>
  traces && settings.AdminApiConfig.expose_trace_routes ? routesOf(traces) : [];

const routesOf = (traces: Traces) => [
  route.get('/v1/traces', {
    id: 'listTraces',
    summary: 'Traces of runs that have ended, the newest first',
    description: 'Only observed runs have one; those that are not pinned go after a while.',
    tag: 'traces',
    scope: 'admin',
    query: TraceQuery,
    responses: { 200: TraceList },
    handle: ({ query }) =>
      longListReply('runs', jsonOfEach(traces.list({ ...query, since: sinceOf(query.since) }))),
  }),
  route.get('/v1/traces/:run_id', {
    id: 'getTrace',
    summary: 'Events of a trace in their order, one a line',
    description: 'Headers tell how many there are and where the next page begins.',
    tag: 'traces',
    scope: 'admin',
    params: TraceParams,
    query: PageQuery,
    responses: {
      200: {
        description: 'The events, one JSON object a line.',
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
    summary: 'Keeps a trace for ever',
    description: 'It is left out when old traces are removed. One that is pinned stays so.',
    tag: 'traces',
    scope: 'admin',
    params: TraceParams,
    responses: { 204: 'pinned', 404: ErrorBody },
    async handle({ params }) {
      await traces.pin(params.run_id);
      return reply(204);
    },
  }),
];

const sinceOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const parsed = instant.safeParse(text);
  if (parsed.success) return Date.parse(parsed.data);
  const detail = parsed.error.issues.map(({ message }) => message).join('; ');
  throw new Invalid('invalid `since` query parameter; expected RFC 3339 timestamp', { details: { detail } });
};
