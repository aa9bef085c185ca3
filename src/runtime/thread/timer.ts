import { timerMs } from '../../schema/timer.ts';
import { isSlotFree, waitForSlot } from './concurrency.ts';
import { isDue, untilDue } from './queue.ts';
import type { Thread } from './state.ts';

/** The timer that starts queued work of a thread. */

/** Whether queued work may start now. */
export const hasQueued = ({ host, queue, slot }: Thread): boolean =>
  host.accepting() && isDue(queue) && isSlotFree(slot);

/** Schedules queued work: at its due time, or as soon as a concurrency slot is free. */
export const armAlarm = (thread: Thread): void => {
  const { active, host, queue, slot } = thread;
  clearTimeout(thread.alarm);
  const delay = untilDue(queue);
  if (delay === undefined || active || !host.accepting()) return;
  if (delay === 0 && !isSlotFree(slot)) waitForSlot(slot);
  else thread.alarm = setTimeout(wakeThread, timerMs(delay), thread).unref();
};

/** Queued work starts with the next event; without a free slot, the thread is queued for one. */
export const queueForSlot = (thread: Thread): void => {
  if (!isSlotFree(thread.slot)) armAlarm(thread);
};

/** Starts queued work, if there is any and nothing else executes. */
export const wakeThread = (thread: Thread): void => {
  thread.actor.send({ type: 'WAKE' });
  armAlarm(thread);
};
