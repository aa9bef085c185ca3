import { useEffect, useState, useSyncExternalStore } from 'react';
import type { Actors } from './actors.ts';
import { type ActorFilter, type Feed, type FeedState, openFeed } from './feed.ts';

/** The feed of a filter, open while its screen is; undefined in the first rendering. */
export const useFeed = ({ machine, run, thread }: ActorFilter): Feed | undefined => {
  const [feed, setFeed] = useState<Feed>();
  useEffect(() => {
    const opened = openFeed({ machine, run, thread });
    setFeed(opened);
    return () => opened.close();
  }, [machine, run, thread]);
  return feed;
};

const nothing = (): void => {};
const never = (): (() => void) => nothing;

/** Renders anew with whatever the feed is told; the actors are the same map, changed in place. */
export const useActors = (
  feed: Feed | undefined,
): { actors: Actors | undefined; version: number; state: FeedState } => {
  const version = useSyncExternalStore(feed?.subscribe ?? never, () => feed?.version() ?? 0);
  return { actors: feed?.actors, version, state: feed?.state() ?? { name: 'connecting' } };
};
