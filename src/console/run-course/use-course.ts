import { useMemo } from 'react';
import { useResource } from '../data/queries.ts';
import type { LogEvent } from '../event-log/event.ts';
import { createWays, machines } from './machine.ts';
import { type Course, courseOf } from './moments.ts';

/** The course of a run; without transitions until the machine is read. */
export const useCourse = (events: readonly LogEvent[]): Course => {
  const machine = useResource(machines).data?.find(({ name }) => name === 'run');
  const ways = useMemo(() => machine && createWays(machine), [machine]);
  return useMemo(() => courseOf(events, ways), [events, ways]);
};
