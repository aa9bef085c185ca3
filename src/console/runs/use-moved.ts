import { useEffect, useRef } from 'react';
import type { Frame } from '../statechart/actors.ts';
import type { ActorFilter } from '../statechart/feed.ts';
import { useFeed, useFeedState } from '../statechart/use-feed.ts';

/** However much moves, what is shown of it is read this seldom: a list of a thousand runs takes a tenth of a second. */
const EVERY_MS = 2000;

/** What has just moved is stored a moment later. */
const STORED_MS = 100;

/**
 * Calls `onMoved` after something has moved that the feed tells of and `isWanted` lets through: soon after the first
 * of many, then at most every two seconds, never while nothing moves, and when the feed is back after a cut.
 *
 * @returns whether it is told: where the feed is refused or cut, somebody has to look by himself
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
