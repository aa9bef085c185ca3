import type { UIMessage } from 'ai';
import { useCallback, useEffect, useState } from 'react';
import { callState, callsIn, isOpen } from './call.ts';

/** How long calls took, as this page has seen it: messages do not say. */

export type CallTimes = ReadonlyMap<string, { from: number; to?: number }>;

/** The same map when nothing has changed. A call that was seen only when it was over has no time. */
export const timed = (
  times: CallTimes,
  messages: readonly Pick<UIMessage, 'parts'>[],
  isBusy: boolean,
  now: number,
): CallTimes => {
  const last = messages.at(-1);
  const after = new Map(times);
  let isChanged = false;
  for (const part of last ? callsIn(last) : []) {
    const id = part.toolCallId;
    const open = isOpen(callState(part, isBusy ? 'written' : 'last'));
    const known = times.get(id);
    if (open && !known) after.set(id, { from: now });
    else if (!open && known && known.to === undefined) after.set(id, { from: known.from, to: now });
    else continue;
    isChanged = true;
  }
  return isChanged ? after : times;
};

/** Milliseconds by the id of the call. */
export const useCallTimes = (
  messages: readonly UIMessage[],
  isBusy: boolean,
): ((toolCallId: string) => number | undefined) => {
  const [times, setTimes] = useState<CallTimes>(new Map());
  useEffect(
    () => setTimes((before) => timed(before, messages, isBusy, performance.now())),
    [messages, isBusy],
  );
  return useCallback(
    (toolCallId) => {
      const { from, to } = times.get(toolCallId) ?? {};
      return from === undefined || to === undefined ? undefined : to - from;
    },
    [times],
  );
};
