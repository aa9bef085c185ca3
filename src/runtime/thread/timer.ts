import { timerMs } from '../../schema/timer.ts';
import { isDue, untilDue } from './queue.ts';
import { isNextFree, waitForRoom } from './room.ts';
import type { Thread } from './state.ts';

/** The timer that starts queued work of a thread. */

/** Whether queued work may start now. */
export const hasQueued = (thread: Thread): boolean =>
  thread.host.accepting() && isDue(thread.queue) && isNextFree(thread);

/** Schedules queued work: at its due time, or as soon as a concurrency slot is free. */
export const armAlarm = (thread: Thread): void => {
  const { active, host, queue } = thread;
  clearTimeout(thread.alarm);
  const delay = untilDue(queue);
  if (delay === undefined || active || !host.accepting()) return;
  if (delay === 0 && !isNextFree(thread)) waitForRoom(thread);
  else thread.alarm = setTimeout(wakeThread, timerMs(delay), thread).unref();
};

/** Queued work starts with the next event; without a free slot, the thread is queued for one. */
export const queueForSlot = (thread: Thread): void => {
  if (!isNextFree(thread)) armAlarm(thread);
};

/** Starts queued work, if there is any and nothing else executes. */
export const wakeThread = (thread: Thread): void => {
  thread.actor.send({ type: 'WAKE' });
  armAlarm(thread);
};
