import { useEffect, useRef, useState } from 'react';
import type { Frame } from '../live-charts/actors.ts';
import { type ActorFilter, type FeedState, openFrames } from '../live-charts/feed.ts';

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
  filter: Omit<ActorFilter, 'elsewhere'>,
  onMoved: () => void,
  isWanted: (frame: Frame) => boolean = () => true,
): boolean => {
  const { machine, run, thread } = filter;
  const [state, setState] = useState<FeedState['name']>('connecting');
  const latest = useRef({ onMoved, isWanted });
  useEffect(() => {
    latest.current = { onMoved, isWanted };
  });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = 0;
    let wasCut = false;
    const moved = (): void => {
      const pause = Math.max(STORED_MS, last + EVERY_MS - Date.now());
      timer ??= setTimeout(() => {
        timer = undefined;
        last = Date.now();
        latest.current.onMoved();
      }, pause);
    };
    const frames = openFrames(
      { machine, run, thread },
      {
        onFrame(frame) {
          if (frame.type !== 'actor' && timer === undefined && latest.current.isWanted(frame)) moved();
        },
        onState({ name }) {
          setState(name);
          if (name === 'live' && wasCut) latest.current.onMoved();
          wasCut = name === 'cut' || (wasCut && name !== 'live');
        },
      },
    );
    return () => {
      frames.close();
      clearTimeout(timer);
    };
  }, [machine, run, thread]);
  return state === 'live';
};
