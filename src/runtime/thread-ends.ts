import { NotFound } from '../schema/outcome.ts';
import { threadFacts } from './facts.ts';
import type { Write } from './ledger.ts';
import { logDispatch } from './records.ts';
import type { Host } from './thread-machine.ts';
import { INTERRUPTED, OVERTAKEN, type ThreadParts } from './thread-parts.ts';
import type { Waits } from './thread-waits.ts';

/** How the work of a thread is ended from outside: one run, everything that came so far, or the thread itself. */

export type Ends = Pick<
  Host,
  'cancel' | 'bumpEpoch' | 'interrupt' | 'clear' | 'cancelActive' | 'reportTimeout' | 'remove'
>;

export const createEnds = (
  { deps: { settings }, id, ledger, queue, occupancy, open, commitInBackground }: ThreadParts,
  { resting, endWait }: Pick<Waits, 'resting' | 'endWait'>,
  /** The actor must not be used any more. */
  retire: (quiet: Promise<void>) => void,
): Ends => {
  /** Whatever is queued or executes now belongs to an epoch that is over. */
  const overtake = (write: Write, reason: string): number => {
    write.bumpEpoch();
    const superseded = queue.withdraw(write, reason);
    const { active } = occupancy;
    if (active?.stoppable()) logDispatch(write, 'RunInterrupted', active.dispatch());
    return superseded;
  };

  /** Nothing is left of what came so far but the run that executes. */
  const clear = (write: Write): number => {
    const superseded = overtake(write, INTERRUPTED);
    for (const run of resting()) endWait(write, run);
    return superseded;
  };

  return {
    cancel({ run_id, done, refuse }) {
      const { active } = occupancy;
      if (active?.run_id === run_id) return done(active.cancel());
      const write = open();
      const waiting = ledger.waiting().get(run_id);
      if (waiting) endWait(write, waiting);
      else if (queue.find(run_id)) queue.cancel(write, run_id);
      else return done(false);
      write.commit('input').then(() => done(true), refuse);
    },
    bumpEpoch() {
      const write = open();
      overtake(write, OVERTAKEN);
      commitInBackground(write);
    },
    interrupt({ done, refuse }) {
      const write = open();
      const superseded = clear(write);
      write.commit('input').then(() => done(superseded), refuse);
    },
    clear() {
      const write = open();
      clear(write);
      commitInBackground(write);
    },
    cancelActive() {
      occupancy.active?.cancel();
    },
    reportTimeout() {
      if (!occupancy.active) return;
      const write = open();
      logDispatch(write, 'MailboxTimeout', occupancy.active.dispatch(), {
        reason: 'local_cancel_release_wait',
        timeout_ms: settings.foreground_release_wait_ms,
      });
      commitInBackground(write);
    },
    remove({ strategy, done, refuse }) {
      const record = ledger.record();
      if (!record) return refuse(new NotFound(`thread not found: ${id}`));
      const write = open();
      clear(write);
      write.remove();
      const facts = { ...threadFacts(record.thread), child_strategy: strategy };
      write.event('ThreadDeleted', facts, { correlation_id: id, origin: 'server' });
      write.commit('input').then(done, refuse);
      occupancy.active?.cancel();
      retire(occupancy.vacant().then(ledger.quiet));
    },
  };
};
