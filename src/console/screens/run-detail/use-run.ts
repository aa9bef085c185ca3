import { useEffect, useMemo } from 'react';
import { invalidate, type Loaded, useResource } from '../../data/queries.ts';
import type { Followed } from '../../events/follow.ts';
import { useEvents } from '../../events/use-events.ts';
import { type Run, runOf } from '../../runs/run.ts';
import { createWays, machines } from './machine.ts';
import { type Course, courseOf, isEnd } from './moments.ts';

/** A run with all that happened in it. */
export type Whole = {
  query: Loaded<Run>;
  log: Followed & { retry: () => void };
  course: Course;
};

/** Events after which the record says something else. */
const CHANGES = /^(Run|InferenceComplete|ToolCallSuspended|MailboxDecision)/;

export const useRun = (id: string): Whole => {
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
  const machine = useResource(machines).data?.find(({ name }) => name === 'run');
  const ways = useMemo(() => machine && createWays(machine), [machine]);
  const course = useMemo(() => courseOf(log.events, ways), [log.events, ways]);
  return { query, log, course };
};
