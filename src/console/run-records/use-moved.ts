import { useEffect, useRef } from 'react';
import type { Frame } from '../live-charts/actors.ts';
import type { ActorFilter } from '../live-charts/feed.ts';
import { useFeed, useFeedState } from '../live-charts/use-feed.ts';

/**
 * Minimum interval between reads, however many transitions occur: a list of a thousand runs takes a tenth of a second.
 */
const EVERY_MS = 2000;

/** Delay after a transition, because its result is stored a moment later. */
const STORED_MS = 100;

/**
 * Calls `onMoved` after transitions that the feed reports and `isWanted` accepts: soon after the first one, then at
 * most every two seconds, and when the feed resumes after an interruption. It is not called while nothing changes.
 *
 * @returns whether the feed is live; while it is refused or interrupted, the caller has to poll
 */
export const useMoved = (
  filter: ActorFilter,
  onMoved: () => void,
  isWanted: (frame: Frame) => boolean = () => true,
): boolean => {
  const feed = useFeed(filter);
  const state = useFeedState(feed);
  const latest = useRef({ onMoved, isWanted });
  useEffect(() => {
    latest.current = { onMoved, isWanted };
  });
  const wasCut = useRef(false);
  useEffect(() => {
    if (state === 'cut') wasCut.current = true;
    else if (state === 'live' && wasCut.current) {
      wasCut.current = false;
      latest.current.onMoved();
    }
  }, [state]);
  useEffect(() => {
    if (!feed) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = 0;
    const stop = feed.onFrame(({ frame }) => {
      if (frame.type === 'actor' || timer !== undefined || !latest.current.isWanted(frame)) return;
      const pause = Math.max(STORED_MS, last + EVERY_MS - Date.now());
      timer = setTimeout(() => {
        timer = undefined;
        last = Date.now();
        latest.current.onMoved();
      }, pause);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [feed]);
  return state === 'live';
};
