import { useEffect, useState, useSyncExternalStore } from 'react';
import type { LogEvent, LogScope } from './event.ts';
import { type Followed, type Follower, followEvents } from './follow.ts';

const nothing = (): void => {};
const never = (): (() => void) => nothing;

const NOTHING: Followed = { events: [], state: { name: 'reading' }, wasReset: false };
const nothingKnown = (): Followed => NOTHING;

/** The log at a path, followed while the component is mounted. `isLast` has to be a stable function. */
export const useEvents = (
  scope: LogScope,
  path: string,
  isLast?: (event: LogEvent) => boolean,
): Followed & { retry: () => void } => {
  const [follower, setFollower] = useState<Follower>();
  useEffect(() => {
    const opened = followEvents({ scope, path, ...(isLast && { isLast }) });
    setFollower(opened);
    return () => opened.close();
  }, [scope, path, isLast]);
  const known = useSyncExternalStore(follower?.subscribe ?? never, follower?.known ?? nothingKnown);
  return { ...known, retry: follower?.retry ?? nothing };
};
