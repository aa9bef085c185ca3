import type { RunRecord } from '../../schema/run-state.ts';
import { openRunOf } from '../ledger/ledger.ts';
import type { Thread } from './state.ts';
import type { Submission } from './submission.ts';

/** Returns the waiting run that the input continues (runtime.md 7.4). */
export function continuedRun({ ledger }: Thread, request: Submission): RunRecord | undefined {
  const { mode, into, named, agent } = request;
  if (mode === 'interrupt_then_queue' || request.run_id !== undefined || request.rewind) return undefined;
  const open = (into === undefined ? undefined : ledger.waiting.get(into)) ?? openRunOf(ledger);
  if (!open) return undefined;
  const isMeant = mode === 'sub_agent' ? open.run_id === into : !named || agent.spec.id === open.agent_id;
  return isMeant ? open : undefined;
}
