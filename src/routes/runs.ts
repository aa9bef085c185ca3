import { z } from 'zod';
import { eventStream, examples, TRACE_HEADERS } from '../http/described.ts';
import { listReply } from '../http/list-reply.ts';
import { route } from '../http/route.ts';
import { createEventStream } from '../http/sse.ts';
import { nativeProtocol } from '../protocols/native/encoder.ts';
import { withAliases } from '../schema/aliases.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { checkNewId } from '../schema/id.ts';
import { Invalid, NotFound } from '../schema/outcome.ts';
import { checkedOutputSchema, RequestedOutput } from '../schema/output.ts';
import { Cursor, Limit, Offset } from '../schema/paging.ts';
import { ActiveRun, inferenceOverrides, Run, RunList, RunOverrides, RunStatus } from '../schema/run.ts';
import { RunEvent } from '../schema/run-event.ts';
import { traceContextOf } from '../schema/trace-context.ts';
import { type Position, Position as PositionSchema } from '../store/index.ts';
import { choice } from './choice.ts';
import { checkClientRoles } from './client-rights.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { RunId, ThreadId } from './parameters.ts';
import type { Rooms } from './rooms.ts';
import { checkRunOverrides } from './run-overrides.ts';
import { keptMessages, rolesOf, UserMessages } from './user-messages.ts';

/** Runs: start with a stream, read (runtime.md 5). */

const StartRun = withAliases(
  { agentId: 'agent_id', threadId: 'thread_id' },
  {
    agentId: z.string().meta({ description: 'id of the agent that runs', examples: ['default'] }),
    threadId: z.string().nullish().meta({ description: 'id of the thread; a new one when missing' }),
    messages: UserMessages.default([]),
    overrides: RunOverrides.nullish(),
    output_schema: RequestedOutput,
  },
)
  .transform(({ agentId, threadId, messages, overrides, output_schema }) => ({
    agent_id: agentId.trim(),
    thread_id: threadId?.trim() || undefined,
    messages,
    overrides: overrides ?? undefined,
    output_schema,
  }))
  .meta({
    id: 'RunRequest',
    description: 'Which agent runs, on which thread, with which input.',
    ...examples({ agentId: 'default', messages: [{ role: 'user', content: 'What is a lease?' }] }),
  });

/** Both of its names: clients know the one that they have sent. */
const BLANK_AGENT = "agent_id cannot be empty: 'agentId', or 'agent_id', names the agent";

const Status = choice(RunStatus.options, (given) => new Invalid(`invalid status filter: ${given}`));

const ListQuery = z.object({
  offset: Offset,
  limit: Limit,
  cursor: Cursor,
  status: Status.optional().meta({ description: 'only runs with this status' }),
});
type ListQuery = z.output<typeof ListQuery>;

const RunParams = z.object({ id: RunId });
const ThreadParams = z.object({ id: ThreadId });

export const runRoutes = ({ store, runtime, resolve, ids }: Rooms) => {
  const list = (scope: string, query: ListQuery, thread_id?: string) => {
    const filter = {
      ...(thread_id !== undefined && { thread_id }),
      ...(query.status !== undefined && { status: query.status }),
    };
    const page = store.runs.list(scope, filter, { limit: query.limit, ...startOf(query, filter) });
    return listReply('items', page.texts, {
      total: page.total,
      has_more: page.next !== undefined,
      next_cursor: page.next === undefined ? null : encodeCursor('run_', page.next, filter),
      ...(page.prev !== undefined && { prev_cursor: encodeCursor('run_', page.prev, filter) }),
    });
  };

  return [
    route.post('/v1/runs', {
      id: 'startRun',
      summary: 'Start a run and stream its events; replaces what executes on the thread',
      description:
        'The run goes on when the client goes away. Its end is `run_finish`, whose `termination` says why. The id of the run is in `run_start`.',
      headers: TRACE_HEADERS,
      tag: 'runs',
      scope: 'agent-invocation',
      body: StartRun,
      bodyLimit: 'attachments',
      responses: {
        200: eventStream(RunEvent, 'what happens in the run, until its `run_finish`'),

        409: ErrorBody,
      },
      async handle({ scope, body, header, isAdmin }) {
        if (body.agent_id === '') throw new Invalid(BLANK_AGENT);
        const messages = keptMessages(body.messages);
        const output_schema = checkedOutputSchema(body.output_schema);
        const thread_id =
          body.thread_id === undefined ? ids.uuid() : checkNewId('thread', 'thread_id', body.thread_id);
        const agent = resolve(body.agent_id);
        checkClientRoles(agent, rolesOf(body.messages), isAdmin);
        if (body.overrides) checkRunOverrides(agent, body.overrides);
        const context = traceContextOf(header);
        const stream = createEventStream();
        await runtime.submit(scope, thread_id, {
          mode: 'foreground',
          agent,
          named: true,
          messages,
          output_schema,
          origin: 'user',
          adapter: 'internal',
          context,
          overrides: body.overrides && inferenceOverrides(body.overrides),
          attach: (channel) => stream.onClose(channel.attach(nativeProtocol, stream)),
        });
        return stream;
      },
    }),
    route.get('/v1/runs', {
      id: 'listRuns',
      summary: 'Runs, the oldest first',
      description: 'Of all threads of the scope. A cursor belongs to the filters that it was given with.',
      tag: 'runs',
      scope: 'agent-invocation',
      query: ListQuery,
      responses: { 200: RunList },
      handle: ({ scope, query }) => list(scope, query),
    }),
    route.get('/v1/runs/:id', {
      id: 'getRun',
      summary: 'One run',
      description: 'Its status, and once it is `done` why: `termination_reason`.',
      tag: 'runs',
      scope: 'agent-invocation',
      params: RunParams,
      responses: { 200: Run, 404: ErrorBody },
      handle({ scope, params }) {
        const run = store.runs.get(scope, params.id);
        if (!run) throw new NotFound(`run not found: ${params.id}`);
        return run;
      },
    }),
    route.get('/v1/threads/:id/runs', {
      id: 'listThreadRuns',
      summary: 'Runs of a thread, the oldest first',
      description: 'A thread that is not there has none.',
      tag: 'runs',
      scope: 'agent-invocation',
      params: ThreadParams,
      query: ListQuery,
      responses: { 200: RunList },
      handle: ({ scope, params, query }) => list(scope, query, params.id),
    }),
    route.get('/v1/threads/:id/runs/active', {
      id: 'getActiveRun',
      summary: 'The run that executes or waits on a thread, if any',
      description: '`active_run` is null when nothing executes and nothing waits.',
      tag: 'runs',
      scope: 'agent-invocation',
      params: ThreadParams,
      responses: { 200: ActiveRun },
      handle: ({ scope, params }) => ({ active_run: activeRun(store, scope, params.id) }),
    }),
    route.get('/v1/threads/:id/runs/latest', {
      id: 'getLatestRun',
      summary: 'The run of a thread that changed last',
      description: '404 when the thread has had no run.',
      tag: 'runs',
      scope: 'agent-invocation',
      params: ThreadParams,
      responses: { 200: Run, 404: ErrorBody },
      handle({ scope, params }) {
        const latest = store.threads.get(scope, params.id)?.thread.latest_run_id;
        const run = latest === undefined ? undefined : store.runs.get(scope, latest);
        if (!run) throw new NotFound(`run not found: no runs for thread ${params.id}`);
        return run;
      },
    }),
  ];
};

const startOf = ({ cursor, offset }: ListQuery, filters: object): { offset: number; after?: Position } => {
  if (cursor === undefined) return { offset };
  const start = decodeCursor(cursor, {
    prefix: 'run_',
    kind: 'run',
    filters,
    filtered: 'status' in filters,
    position: PositionSchema,
  });
  return 'offset' in start ? start : { offset: 0, after: start.position };
};

const activeRun = (store: Rooms['store'], scope: string, thread_id: string) => {
  const thread = store.threads.get(scope, thread_id)?.thread;
  const find = (id: string | undefined, statuses: readonly RunStatus[]): Run | undefined => {
    const run = id === undefined ? undefined : store.runs.get(scope, id);
    return run && statuses.includes(run.status) ? run : undefined;
  };
  const run =
    find(thread?.active_run_id, ['running']) ??
    find(thread?.open_run_id, ['running', 'waiting']) ??
    store.runs.newest(scope, thread_id, ['running', 'waiting']);
  if (!run) return null;
  const { run_id, agent_id, status, termination_reason, dispatch_id, session_id, waiting } = run;
  return { thread_id, run_id, agent_id, status, termination_reason, dispatch_id, session_id, waiting };
};
