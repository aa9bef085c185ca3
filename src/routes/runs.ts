import { z } from 'zod';
import { eventStream, examples, TRACE_HEADERS } from '../http/described.ts';
import { route } from '../http/route.ts';
import { createEventStream } from '../http/sse.ts';
import { nativeProtocol } from '../protocols/native/encoder.ts';
import { shownProtocol } from '../protocols/shown-events.ts';
import { readInference } from '../runtime/index.ts';
import { actorOf } from '../schema/actor.ts';
import { withAliases } from '../schema/aliases.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { checkNewId } from '../schema/id.ts';
import { Invalid, NotFound } from '../schema/outcome.ts';
import { checkedOutputSchema, RequestedOutput } from '../schema/output.ts';
import { count } from '../schema/paging.ts';
import { RecordedInference } from '../schema/recorded-inference.ts';
import { ActiveRun, Run, RunList } from '../schema/run.ts';
import { RunEvent } from '../schema/run-event.ts';
import { inferenceOverrides, RunOverrides } from '../schema/run-overrides.ts';
import { wireRun } from '../schema/run-state.ts';
import { traceContextOf } from '../schema/trace-context.ts';
import { checkClientRoles } from './client-rights.ts';
import { createNamedAgents } from './named-agent.ts';
import { RunId, ThreadId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';
import { createRunAgain, keyedStream } from './run-again.ts';
import { runLegRoute } from './run-legs.ts';
import { ListQuery, listRuns } from './run-list.ts';
import { checkRunOverrides } from './run-overrides.ts';
import { keptMessages, rolesOf, UserMessages } from './user-messages.ts';

/** Starts runs with a stream, and reads runs (runtime.md 5). */

const StartRun = withAliases(
  { agentId: 'agent_id', threadId: 'thread_id' },
  {
    agentId: z.string().meta({ description: 'id of the agent that runs', examples: ['default'] }),
    threadId: z.string().nullish().meta({ description: 'id of the thread; default: a new thread' }),
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
    description: 'Agent, thread and input of the run.',
    ...examples({ agentId: 'default', messages: [{ role: 'user', content: 'What is a lease?' }] }),
  });

/** Names both spellings, because clients recognize the one that they have sent. */
const BLANK_AGENT = "agent_id cannot be empty: 'agentId', or 'agent_id', names the agent";

const RunParams = z.object({ id: RunId });
const ThreadParams = z.object({ id: ThreadId });

const StepIndex = count.transform(Number).meta({ description: '0-based index of the inference' });

export const runRoutes = (deps: RouteDeps) => [
  startRun(deps),
  ...readRoutes(deps),
  inferenceRoute(deps),
  runLegRoute(deps),
  ...threadRunRoutes(deps),
];

const startRun = (deps: RouteDeps) => {
  const { runtime, access, ids } = deps;
  const named = createNamedAgents(deps);
  return route.post('/v1/runs', {
    id: 'startRun',
    summary: 'Start a run and stream its events; replaces the executing run of the thread',
    description:
      'The run continues when the client disconnects. It ends with `run_finish`, whose `termination` contains the reason. The id of the run is in `run_start`.',
    headers: TRACE_HEADERS,
    tag: 'runs',
    needs: 'invoke',
    body: StartRun,
    bodyLimit: 'attachments',
    responses: {
      200: eventStream(RunEvent, 'what happens in the run, until its `run_finish`'),
      409: ErrorBody,
    },
    idempotent: true,
    again: createRunAgain(deps, nativeProtocol),
    async handle({ scope, body, header, principal, keyed }) {
      if (body.agent_id === '') throw new Invalid(BLANK_AGENT);
      const messages = keptMessages(body.messages);
      const output_schema = checkedOutputSchema(body.output_schema);
      const thread =
        body.thread_id === undefined
          ? { scope, id: ids.uuid() }
          : access.thread(principal, checkNewId('thread', 'thread_id', body.thread_id), 'write');
      const agent = await named(principal, body.agent_id);
      checkClientRoles(agent, rolesOf(body.messages), principal);
      if (body.overrides) checkRunOverrides(agent, body.overrides);
      const context = traceContextOf(header);
      const stream = createEventStream({ reading: access.reading('thread', thread, 'write', agent.spec.id) });
      const protocol = shownProtocol(nativeProtocol, access.shownRunEvent(principal, thread));
      await runtime.submit(thread.scope, thread.id, {
        mode: 'foreground',
        agent,
        named: true,
        messages,
        output_schema,
        origin: 'user',
        adapter: 'internal',
        context,
        by: actorOf(principal),
        overrides: body.overrides && inferenceOverrides(body.overrides),
        attach: (channel) => stream.onClose(channel.attach(protocol, stream)),
        keyed: keyedStream(deps, keyed, thread, agent.spec.id),
      });
      return stream;
    },
  });
};

const readRoutes = (deps: RouteDeps) => [
  route.get('/v1/runs', {
    id: 'listRuns',
    summary: 'Runs, oldest first by default',
    description:
      'Includes all threads of the scope. A cursor is only valid with the same filters. A search examines up to 1,000 runs per page.',
    tag: 'runs',
    needs: 'read',
    query: ListQuery,
    responses: { 200: RunList },
    handle: ({ principal, query }) => listRuns(deps, principal, query),
  }),
  route.get('/v1/runs/:id', {
    id: 'getRun',
    summary: 'One run',
    description: 'Its status and, when it is `done`, its `termination_reason`.',
    tag: 'runs',
    needs: 'read',
    params: RunParams,
    responses: { 200: Run, 404: ErrorBody },
    handle({ principal, params }) {
      const { scope, id } = deps.access.run(principal, params.id, 'read');
      const run = deps.store.runs.get(scope, id);
      if (!run) throw new NotFound(`run not found: ${params.id}`);
      return deps.access.shownRun(principal, wireRun(run));
    },
  }),
];

const inferenceRoute = (deps: RouteDeps) =>
  route.get('/v1/runs/:id/inferences/:step_index', {
    id: 'getRunInference',
    summary: 'Input and output of an inference of a run',
    description:
      'Rebuilt from the thread and the publication of the run. For a run that is executing or did not complete, the step after the last finished one is the inference that failed or has not ended.',
    tag: 'runs',
    needs: 'observe',
    params: z.object({ id: RunId, step_index: StepIndex }),
    responses: { 200: RecordedInference, 404: ErrorBody },
    handle({ principal, params: { id, step_index } }) {
      const { scope, id: run_id } = deps.access.run(principal, id, 'read');
      const run = deps.store.runs.get(scope, run_id);
      if (!run) throw new NotFound(`run not found: ${id}`);
      const found = readInference(deps, scope, wireRun(run), step_index);
      if (!found) throw new NotFound(`run '${id}' has no inference ${step_index}`);
      return found;
    },
  });

const threadRunRoutes = (deps: RouteDeps) => [
  route.get('/v1/threads/:id/runs', {
    id: 'listThreadRuns',
    summary: 'Runs of a thread, oldest first by default',
    description: 'Returns an empty list for unknown threads.',
    tag: 'runs',
    needs: 'read',
    params: ThreadParams,
    query: ListQuery,
    responses: { 200: RunList },
    handle: ({ principal, params, query }) =>
      listRuns(deps, principal, query, deps.access.thread(principal, params.id, 'read')),
  }),
  route.get('/v1/threads/:id/runs/active', {
    id: 'getActiveRun',
    summary: 'The run that executes or waits on a thread, if any',
    description: '`active_run` is null when no run is executing or waiting.',
    tag: 'runs',
    needs: 'read',
    params: ThreadParams,
    responses: { 200: ActiveRun },
    handle({ principal, params }) {
      const { scope, id } = deps.access.thread(principal, params.id, 'read');
      return { active_run: activeRun(deps.store, scope, id) };
    },
  }),
  route.get('/v1/threads/:id/runs/latest', {
    id: 'getLatestRun',
    summary: 'The most recently changed run of a thread',
    description: '404 when the thread has had no run.',
    tag: 'runs',
    needs: 'read',
    params: ThreadParams,
    responses: { 200: Run, 404: ErrorBody },
    handle({ principal, params }) {
      const { scope, id } = deps.access.thread(principal, params.id, 'read');
      const latest = deps.store.threads.get(scope, id)?.thread.latest_run_id;
      const run = latest === undefined ? undefined : deps.store.runs.get(scope, latest);
      if (!run) throw new NotFound(`run not found: no runs for thread ${params.id}`);
      return deps.access.shownRun(principal, wireRun(run));
    },
  }),
];

/** Returns the run that executes, else the one that new input continues, else the newest that waits. */
const activeRun = (store: RouteDeps['store'], scope: string, thread_id: string) => {
  const run = store.runs.newest(scope, thread_id, 'running') ?? waitingRun(store, scope, thread_id);
  if (!run) return null;
  const { run_id, agent_id, status, termination_reason, dispatch_id, session_id, waiting } = run;
  return { thread_id, run_id, agent_id, status, termination_reason, dispatch_id, session_id, waiting };
};

const waitingRun = (store: RouteDeps['store'], scope: string, thread_id: string): Run | undefined => {
  const open = store.threads.get(scope, thread_id)?.thread.open_run_id;
  const run = open === undefined ? undefined : store.runs.get(scope, open);
  return run?.status === 'waiting' ? run : store.runs.newest(scope, thread_id, 'waiting');
};
