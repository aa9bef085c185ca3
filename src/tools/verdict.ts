import type { Resume } from '../schema/activation.ts';
import type { ResumeMode } from '../schema/run.ts';
import type { Json } from './tool.ts';

/**
 * Interprets a decision on a suspended call (runtime.md 12). All protocols pass their decisions to this function, and
 * no other code determines consent.
 *
 * Guarantees: a call that waits for a permission is approved only by a payload with `"approved": true`, or by a
 * decision in the native form without a payload.
 */

export type DecisionRequest = {
  action: Resume['action'];
  /** Null if the decision has no payload. */
  payload: Json;
  /**
   * `native` (the default): a decision whose action alone may approve. `approval`: a decision of a protocol that states
   * the consent in its payload. `output`: the result that a client sends for the call.
   */
  form?: 'native' | 'approval' | 'output';
};

export type Verdict =
  | { kind: 'approved'; arguments?: Json }
  | { kind: 'denied' }
  /** The payload is passed to the tool or is its result. */
  | { kind: 'answered' }
  /** The payload states neither consent nor denial. */
  | { kind: 'unclear' };

export const verdictOf = (
  { resume_mode }: { resume_mode: ResumeMode },
  { action, payload, form = 'native' }: DecisionRequest,
): Verdict => {
  if (action === 'cancel') return { kind: 'denied' };
  if (resume_mode !== 'replay_tool_call') return { kind: 'answered' };
  if (form === 'output') return { kind: 'denied' };
  if (payload === null && form === 'native') return { kind: 'approved' };
  const approved = fieldOf(payload, 'approved');
  if (approved === false) return { kind: 'denied' };
  if (approved !== true) return { kind: 'unclear' };
  const edited = fieldOf(payload, 'arguments') ?? null;
  return edited === null ? { kind: 'approved' } : { kind: 'approved', arguments: edited };
};

export const UNCLEAR = 'say "approved": true or false';

const PERMISSION = { resume_mode: 'replay_tool_call' } as const;

/** For decisions that were accepted for a permission ticket. */
export const isApproval = (decision: Resume | undefined): boolean =>
  decision !== undefined && acceptedVerdict(decision).kind === 'approved';

/** Arguments of the decision that replace those of the model. */
export const editedArguments = (decision: Resume | undefined): Json | undefined => {
  const verdict = decision && acceptedVerdict(decision);
  return verdict?.kind === 'approved' ? verdict.arguments : undefined;
};

const acceptedVerdict = ({ action, result }: Resume): Verdict =>
  verdictOf(PERMISSION, { action, payload: result ?? null, form: 'native' });

const fieldOf = (value: Json, field: string): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, field)
    ? value[field]
    : undefined;
