import { Forbidden } from '../../schema/outcome.ts';
import type { Run } from '../../schema/run.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import { openRunOf } from '../ledger/ledger.ts';
import type { Thread } from './state.ts';
import type { Submission } from './submission.ts';

/** Whether a run acts for the user of a request; no user equals no user (identity.md 1.3). */
export const isOfUser = ({ user }: Pick<Run, 'user'>, { by }: Pick<Submission, 'by'>): boolean =>
  user === by?.user;

/** Whether the request may continue the run: input of another user never does, decisions may. */
const joins = (open: RunRecord, request: Submission): boolean =>
  request.mode === 'sub_agent' ||
  isOfUser(open, request) ||
  (request.messages.length === 0 && (request.decisions?.length ?? 0) > 0);

/** @throws Forbidden for input that is meant for a run of another user */
export function refuseForeign({ ledger }: Thread, request: Submission): void {
  const { mode, into, decisions = [] } = request;
  if (mode !== 'resume_open_run' && decisions.length === 0) return;
  const open = (into === undefined ? undefined : ledger.waiting.get(into)) ?? openRunOf(ledger);
  if (open && !joins(open, request)) throw new Forbidden('the run acts for another user');
}

/** Returns the waiting run that the input continues (runtime.md 7.4). */
export function continuedRun({ ledger }: Thread, request: Submission): RunRecord | undefined {
  const { mode, into, named, agent } = request;
  if (mode === 'interrupt_then_queue' || request.run_id !== undefined || request.rewind) return undefined;
  const open = (into === undefined ? undefined : ledger.waiting.get(into)) ?? openRunOf(ledger);
  if (!open || !joins(open, request)) return undefined;
  const isMeant = mode === 'sub_agent' ? open.run_id === into : !named || agent.spec.id === open.agent_id;
  return isMeant ? open : undefined;
}
