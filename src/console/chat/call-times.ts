import type { UIMessage } from 'ai';
import { useCallback, useEffect, useState } from 'react';
import { type CallState, callState, callsIn } from './call.ts';

/** Durations of calls as this page observed them, because messages do not contain them. */

type Times = { from: number; asked?: number; decided?: number; to?: number };

export type CallTimes = ReadonlyMap<string, Times>;

/** Milliseconds that the call waited for the user, and that the tool was executed. */
export type CallTime = { waited: number; ran: number };

const WAITING: ReadonlySet<CallState> = new Set(['approval', 'answer']);
const OPEN: ReadonlySet<CallState> = new Set([...WAITING, 'calling', 'approved']);

/** The times after a look at the call; the same object if nothing changed. */
const lookedAt = (known: Times | undefined, state: CallState, now: number): Times | undefined => {
  const isOpen = OPEN.has(state);
  if (!known && !isOpen) return undefined;
  const times = known ?? { from: now };
  if (times.to !== undefined) return times;
  if (WAITING.has(state)) return times.asked === undefined ? { ...times, asked: now } : times;
  const isDecided = times.asked !== undefined && times.decided === undefined;
  const after = isDecided ? { ...times, decided: now } : times;
  return isOpen ? after : { ...after, to: now };
};

/** Returns the same map if nothing changed. A call that had already ended when it first appeared has no time. */
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
    const known = times.get(part.toolCallId);
    const next = lookedAt(known, callState(part, isBusy ? 'written' : 'last'), now);
    if (next === undefined || next === known) continue;
    after.set(part.toolCallId, next);
    isChanged = true;
  }
  return isChanged ? after : times;
};

export const timeOf = ({ from, asked, decided, to }: Times): CallTime | undefined => {
  if (to === undefined) return undefined;
  const waited = asked === undefined ? 0 : (decided ?? to) - asked;
  return { waited, ran: to - from - waited };
};

export const useCallTimes = (
  messages: readonly UIMessage[],
  isBusy: boolean,
): ((toolCallId: string) => CallTime | undefined) => {
  const [times, setTimes] = useState<CallTimes>(new Map());
  useEffect(
    () => setTimes((before) => timed(before, messages, isBusy, performance.now())),
    [messages, isBusy],
  );
  return useCallback(
    (toolCallId) => {
      const known = times.get(toolCallId);
      return known && timeOf(known);
    },
    [times],
  );
};
