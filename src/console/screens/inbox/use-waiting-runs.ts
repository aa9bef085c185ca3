import { useState } from 'react';
import { type Loaded, useResource } from '../../data/queries.ts';
import type { Frame } from '../../live-charts/actors.ts';
import { useMoved } from '../../run-records/use-moved.ts';
import { type Waiting, waitingRuns } from '../../run-records/waiting.ts';
import { mayTell } from './DesktopNotices.tsx';

/** Polling interval while the feed is not live. */
const LOOK_MS = 3000;

/** Whether the frame starts or ends a wait. */
const concernsWaits = (frame: Frame): boolean => {
  if ('live' in frame) return frame.live.state.startsWith('waiting');
  if (frame.type === 'ended') return true;
  return frame.from.startsWith('waiting') || frame.to.startsWith('waiting');
};

/** The waiting runs, read again after each transition that concerns a wait. */
export const useWaitingRuns = (pages: number): Loaded<Waiting> => {
  const [isTold, setTold] = useState(true);
  const query = useResource({ ...waitingRuns(pages, isTold ? undefined : LOOK_MS), unseen: mayTell() });
  const isLive = useMoved({ machine: 'run' }, () => void query.refetch(), concernsWaits);
  if (isLive !== isTold) setTold(isLive);
  return query;
};
