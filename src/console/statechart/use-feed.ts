import { useEffect, useState, useSyncExternalStore } from 'react';
import { createActors } from './actors.ts';
import { type ActorFilter, type Feed, type FeedState, type Known, openFeed } from './feed.ts';

/** The feed of a filter, open while its screen is and wants it; undefined in the first rendering. */
export const useFeed = (
  { machine, run, thread, elsewhere }: ActorFilter,
  isWanted = true,
): Feed | undefined => {
  const [feed, setFeed] = useState<Feed>();
  useEffect(() => {
    if (!isWanted) return;
    const opened = openFeed({ machine, run, thread, elsewhere });
    setFeed(opened);
    return () => {
      opened.close();
      setFeed(undefined);
    };
  }, [machine, run, thread, elsewhere, isWanted]);
  return feed;
};

const nothing = (): void => {};
const never = (): (() => void) => nothing;

const nobody: Known = { actors: createActors(), state: { name: 'connecting' } };

const nobodyKnown = (): Known => nobody;

/** Renders anew with whatever the feed is told. */
export const useKnown = (feed: Feed | undefined): Known =>
  useSyncExternalStore(feed?.subscribe ?? never, feed?.known ?? nobodyKnown);

/** Renders anew only when the connection itself changes. */
export const useFeedState = (feed: Feed | undefined): FeedState['name'] =>
  useSyncExternalStore(feed?.subscribe ?? never, () => feed?.known().state.name ?? 'connecting');
