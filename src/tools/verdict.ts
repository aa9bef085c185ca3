import type { Resume, ResumeMode } from '../schema/run.ts';
import type { Json } from './tool.ts';

/**
 * What a decision means for the call that it is on (runtime.md 12). Every protocol hands its decisions to this
 * function, and nothing else reads whether a person has consented.
 *
 * Guarantees: a call that waits for a permission is approved only by a payload with `"approved": true`, or by a
 * decision of the native form without any payload.
 */

export type Said = {
  action: Resume['action'];
  /** Null when there is none. */
  payload: Json;
  /**
   * `native` (the default): a decision, whose action alone may approve. `approval`: a decision of a protocol that states
   * the consent in its payload. `output`: the result that a client sends for the call.
   */
  form?: 'native' | 'approval' | 'output';
};

export type Verdict =
  | { kind: 'approved'; arguments?: Json }
  | { kind: 'denied' }
  /** The payload goes to the tool, or is its result. */
  | { kind: 'answered' }
  /** Neither yes nor no. */
  | { kind: 'unclear' };

export const verdictOf = (
  { resume_mode }: { resume_mode: ResumeMode },
  { action, payload, form = 'native' }: Said,
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

/** Of a decision that was accepted for a permission ticket. */
export const isApproval = (decision: Resume | undefined): boolean =>
  decision !== undefined && acceptedVerdict(decision).kind === 'approved';

/** The arguments to execute the tool with instead of those that the model gave. */
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
