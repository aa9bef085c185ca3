import { useEffect, useState, useSyncExternalStore } from 'react';
import { createActors } from './actors.ts';
import { type ActorFilter, type Feed, type Known, openFeed } from './feed.ts';

/** The feed of a filter, open while the component is mounted and `isWanted` is true; undefined on the first render. */
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

/** Renders again after every change of the feed. */
export const useKnown = (feed: Feed | undefined): Known =>
  useSyncExternalStore(feed?.subscribe ?? never, feed?.known ?? nobodyKnown);
