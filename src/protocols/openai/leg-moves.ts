import { IllegalTransition, rememberingAdvance } from '../../../machines/advance.ts';
import {
  isTerminalLeg,
  legAt,
  type ResponseEvent,
  responseMachine,
  statusOf,
} from '../../../machines/response.ts';
import type { WrittenRun } from '../../runtime/index.ts';
import type { Run, Termination } from '../../schema/run.ts';
import { hasTag, type RunRecord } from '../../schema/run-state.ts';
import type { StoredResponse } from '../../schema/stored-response.ts';
import type { Leg } from './open-leg.ts';
import { endingOf } from './response.ts';
import { sealOutput } from './response-encoder.ts';
import { NO_USAGE } from './usage.ts';
import { budgetTexts, waitsOf } from './waits.ts';

/** The transitions of a leg that follow from the records of its run (openai-responses.md 7.3). */

/** The client, a person or a remote agent has to act, and has not. */
export const isPaused = (run: RunRecord): boolean =>
  hasTag(run, 'waiting') && !hasTag(run, 'background_tasks') && !hasTag(run, 'answered');

export const eventOf = (
  { row, encoder }: Leg,
  after: RunRecord,
  before: RunRecord | undefined,
): ResponseEvent | undefined => {
  if (hasTag(after, 'done')) {
    const { type, code } = terminationOf(after);
    return { type: 'END', termination: { type, code, truncated: encoder.state.truncated } };
  }
  if (isPaused(after)) return before && row.status === 'in_progress' ? { type: 'PAUSE' } : undefined;
  return hasTag(after, 'running') && row.status === 'queued' ? { type: 'START' } : undefined;
};

const terminationOf = ({ termination_reason }: Run) => {
  const reason: Termination = termination_reason ?? { type: 'natural_end' };
  if (reason.type === 'suspended') return { type: 'natural_end', code: undefined } as const;
  return { type: reason.type, code: reason.type === 'stopped' ? reason.value.code : undefined };
};

const advance = rememberingAdvance(responseMachine);

export const moveLeg = (leg: Leg, event: ResponseEvent, { after, at, seq }: WrittenRun): void => {
  const { row, encoder } = leg;
  let status: StoredResponse['status'];
  try {
    status = statusOf(advance(legAt(row.status), event));
  } catch (error) {
    if (error instanceof IllegalTransition) return;
    throw error;
  }
  if (!isTerminalLeg(status)) {
    row.status = status;
    return;
  }
  const { termination_reason: termination } = after;
  leg.last = after;
  const refusal = termination?.type === 'blocked' ? termination.value : undefined;
  const notice = event.type === 'PAUSE' ? budgetTexts(waitsOf(after.waiting)) : undefined;
  sealOutput(encoder.state, { status, refusal, notice }, () => {
    row.status = status;
    row.ended_at = at;
    row.to_seq = seq;
    row.usage = encoder.state.usage ?? NO_USAGE;
    if (event.type === 'END' && termination)
      Object.assign(row, endingOf(termination, encoder.state.truncated));
  });
};
