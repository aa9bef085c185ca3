import type { RunMachineEvent } from '../../machines/run.ts';
import { seconds } from '../schema/clock.ts';
import { Integrity } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import type { RunEventOf } from '../schema/run-event.ts';
import { type CaptureMode, kindsOf } from './capture.ts';
import { statusReason, terminationOf } from './ending.ts';
import type { Write } from './ledger.ts';
import { advanceDormant, ENDED, identityOf } from './records.ts';

/**
 * Ends a run that nothing executes: queued work that is withdrawn, a wait that is cancelled, a run whose workers
 * keep dying. Record, terminal event and pointers go into the caller's commit.
 */
export const endDormant = (write: Write, before: Run, event: RunMachineEvent, mode: CaptureMode): Run => {
  if (before.status === 'done') return before;
  const next = advanceDormant(before.status, event);
  const { ending } = next.context;
  if (!ending) throw new Integrity(`run '${before.run_id}': '${event.type}' does not end it`);
  const termination_reason = terminationOf(ending);
  const outcome = {
    termination_reason,
    ...(before.final_output !== undefined && { final_output: before.final_output }),
    ...(ending.type === 'error' && { error_payload: { message: ending.value } }),
  };
  const { waiting: _over, ...rest } = before;
  const after: Run = {
    ...rest,
    ...outcome,
    status: ENDED,
    outcome,
    finished_at: seconds(write.at),
    updated_at: seconds(write.at),
  };
  write.run(after, before);
  logTerminal(write, after, mode);
  return after;
};

const logTerminal = (write: Write, run: Run, mode: CaptureMode): void => {
  const termination = run.termination_reason;
  if (!termination) return;
  const finish: RunEventOf<'run_finish'> = {
    event_type: 'run_finish',
    thread_id: run.thread_id,
    run_id: run.run_id,
    identity: identityOf(run),
    ...(termination.type !== 'error' && {
      result: { response: run.final_output ?? '', status: 'done', status_reason: statusReason(termination) },
    }),
    termination,
  };
  for (const kind of kindsOf(finish, mode, false)) {
    write.event(kind, finish, {
      run_id: run.run_id,
      ...(run.dispatch_id !== undefined && { correlation_id: run.dispatch_id }),
    });
  }
};
