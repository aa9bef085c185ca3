import { timerMs } from '../schema/timer.ts';
import { isDue, untilDue } from './queue.ts';
import { isSlotFree, lineUp } from './slots.ts';
import type { Thread } from './thread.ts';

/** When the queued work of a thread starts by itself. */

/** May queued work start now? */
export const hasQueued = ({ around, queue, slot }: Thread): boolean =>
  around.accepting() && isDue(queue) && isSlotFree(slot);

/** Whatever is queued starts when it is due: at its time, or when there is room for it. */
export const armAlarm = (thread: Thread): void => {
  const { active, around, queue, slot } = thread;
  clearTimeout(thread.alarm);
  const delay = untilDue(queue);
  if (delay === undefined || active || !around.accepting()) return;
  if (delay === 0 && !isSlotFree(slot)) lineUp(slot);
  else thread.alarm = setTimeout(wakeThread, timerMs(delay), thread).unref();
};

/** What was queued starts with the next event, unless there is no room for it. */
export const lineUpIfFull = (thread: Thread): void => {
  if (!isSlotFree(thread.slot)) armAlarm(thread);
};

/** Starts queued work, if there is some and nothing else executes. */
export const wakeThread = (thread: Thread): void => {
  thread.actor.send({ type: 'WAKE' });
  armAlarm(thread);
};
