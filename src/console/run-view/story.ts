import { useEffect, useMemo } from 'react';
import { list, object, text } from '../data/guard.ts';
import { invalidate, type Loaded, type Resource, useResource } from '../data/queries.ts';
import { pathOf, send } from '../data/request.ts';
import type { LogEvent } from '../event-log/event.ts';
import type { Followed } from '../event-log/follow.ts';
import { useEvents } from '../event-log/use-events.ts';
import { isEnd } from '../run-course/moments.ts';
import { isOpen, Run, runOf } from '../run-records/run.ts';
import { recentRuns, type TraceEvent, traceEvents } from '../trace-records/traces.ts';
import { type Span, toolName } from './span.ts';
import { spansOf } from './spans.ts';
import { refined, spansOfTrace } from './trace-spans.ts';

/** Runs of delegates that have not ended: each has a separate thread below the thread of this run. */

const Threads = object({ items: list(object({ id: text })) });
const Runs = object({ items: list(Run) });

/** Maximum number of child threads that are searched, newest first. */
const MOST = 50;

const readChildren = async (run: Run, signal: AbortSignal): Promise<Run[]> => {
  const query = { parent_thread_id: run.thread_id, limit: MOST };
  const threads = await send({ path: '/v1/threads/summaries', query, signal }, Threads);
  const found: Run[] = [];
  for (const { id } of threads.items) {
    const { items } = await send(
      { path: pathOf`/v1/threads/${id}/runs`, query: { limit: 200 }, signal },
      Runs,
    );
    found.push(...items.filter(({ parent_run_id }) => parent_run_id === run.run_id));
  }
  return found;
};

/** The path equals that of the run, so that invalidating the run refetches these as well. */
const childRuns = (run: Run): Resource<Run[]> => ({
  path: pathOf`/v1/runs/${run.run_id}`,
  query: { children: true },
  guard: list(Run),
  read: (signal) => readChildren(run, signal),
});

/** The result of a delegating call contains the id of its run; before that, the run refers to the call. */
const useChildren = (run: Run, spans: readonly Span[]): ReadonlyMap<string, string> => {
  const isAsked = spans.some(
    ({ kind, name, childRunId }) =>
      kind === 'tool' && childRunId === undefined && toolName(name).agent !== undefined,
  );
  const found = useResource(childRuns(run), isAsked).data;
  return useMemo(
    () =>
      new Map(
        found?.flatMap(({ run_id, activation }) => {
          const call = activation?.trace?.parent_tool_call_id;
          return call === undefined ? [] : [[call, run_id] as const];
        }),
      ),
    [found],
  );
};

/** A run as spans: a stored run from its events, any other one from its trace. */
export type Story = {
  id: string;
  /** Undefined for a run that is not stored, such as that of a test case. */
  run: Run | undefined;
  events: readonly LogEvent[];
  /** The first span is the run. */
  spans: readonly Span[];
};

/** Events after which the record of the run has changed. */
const CHANGES = /^(Run|InferenceComplete|ToolCallSuspended|MailboxDecision)/;

/** A run with its events, followed while it has not ended. */
export const useRunLog = (id: string): { query: Loaded<Run>; log: Followed & { retry: () => void } } => {
  const resource = runOf(id);
  const query = useResource(resource);
  const log = useEvents('run', `${resource.path}/events`, isEnd);
  const changes = useMemo(
    () => log.events.filter(({ event_kind }) => CHANGES.test(event_kind)).length,
    [log.events],
  );
  useEffect(() => {
    if (changes > 0) invalidate(resource.path);
  }, [changes, resource.path]);
  return { query, log };
};

const modules: Resource<string[]> = {
  path: '/v1/system/modules',
  guard: list(text),
  off: { statuses: [404] },
};

/** The trace of a run, if the service stores traces and has one. It sends no request that would fail. */
export const useTrace = (run: Run): { isThere: boolean; events: readonly TraceEvent[] | undefined } => {
  const isOver = !isOpen(run);
  const hasTraces = useResource(modules, isOver).data?.includes('trace') === true;
  const traced = useResource(recentRuns(run.agent_id), isOver && hasTraces).data;
  const isThere = traced?.runs.some(({ run_id }) => run_id === run.run_id) === true;
  const events = useResource(traceEvents(run.run_id), isThere).data;
  return { isThere, events };
};

export const useStory = (run: Run, events: readonly LogEvent[]): Story => {
  const trace = useTrace(run).events;
  const logged = useMemo(() => spansOf(events, run.agent_id), [events, run.agent_id]);
  const children = useChildren(run, logged);
  return useMemo(() => {
    const known = logged.map((span) => {
      const childRunId = span.childRunId ?? children.get(span.callId ?? '');
      return childRunId === undefined ? span : { ...span, childRunId };
    });
    return { id: run.run_id, run, events, spans: trace ? refined(known, trace) : known };
  }, [run, events, trace, logged, children]);
};

export const storyOfTrace = (id: string, trace: readonly TraceEvent[]): Story => {
  const agent = trace.find(({ agent_id }) => agent_id !== undefined)?.agent_id;
  return { id, run: undefined, events: [], spans: spansOfTrace(trace, agent) };
};
