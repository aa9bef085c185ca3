import type { AccessDraft } from '../../schema/access-event.ts';
import type { Resume } from '../../schema/activation.ts';
import { type Actor, actorOf } from '../../schema/actor.ts';
import { AUTH_REQUIRED } from '../../schema/authorization.ts';
import { BUDGET_EXCEEDED, type BudgetRaise, type ReachedLimit } from '../../schema/budget.ts';
import { grantOf } from '../../schema/grants.ts';
import { Forbidden, Unprocessable } from '../../schema/outcome.ts';
import {
  ANONYMOUS_NAME,
  type Credential,
  may,
  type Need,
  nameOf,
  type Principal,
} from '../../schema/principal.ts';
import type { ResumeMode } from '../../schema/run.ts';
import type { Verdict } from '../../tools/verdict.ts';
import { commonUser, type People } from './people.ts';
import type { DecisionInput } from './submission.ts';

/**
 * Checks the right to decide a ticket (identity.md 4). Decisions of the service itself have no principal and are not checked.
 * The caller has checked that the principal may decide on the thread.
 */

/** The call that a decision is about. */
export type DecidedSubject = {
  tool: string;
  agent_id: string;
  resume_mode: ResumeMode;
  /** The reason of its ticket. */
  reason: string | undefined;
  deciders: 'others' | undefined;
};

const ADMIN: Need = ['admin'];
const BUDGETS: Need = ['configure', 'budgets'];

/** One refused subject refuses the decision. @throws Forbidden, Unprocessable */
export const checkDecider = (
  { principal, mayWrite = true, action, digest }: DecisionInput,
  run: { user?: string | undefined; credential?: Credential | undefined },
  subjects: readonly DecidedSubject[],
  { verdicts, people }: { verdicts: readonly Verdict[]; people: People | undefined },
): void => {
  if (!principal) return;
  const isOwn = principal.user === run.user;
  for (const [index, subject] of subjects.entries()) {
    if (subject.reason === AUTH_REQUIRED)
      checkWaitForAccount(subject, { verdict: verdicts[index], mayWrite });
    else if (subject.reason === BUDGET_EXCEEDED) checkWaitForBudget(subject, { principal, mayWrite, action });
    else checkSubject(subject, { principal, mayWrite, isOwn, action });
    if (subject.deciders === 'others') checkOther(subject, { principal, run, people });
  }
  const edits = verdicts.some((verdict) => verdict.kind === 'approved' && verdict.arguments !== undefined);
  if (edits && !isOwn && !may(principal, ADMIN))
    throw new Forbidden('edited arguments must come from the user that the run acts for');
  const asks = subjects.some(
    ({ resume_mode, reason }) => resume_mode === 'replay_tool_call' && reason !== AUTH_REQUIRED,
  );
  if (asks && !isOwn && digest === undefined) throw new Unprocessable('send the digest of what was shown');
};

type Decider = { principal: Principal; mayWrite: boolean; isOwn: boolean; action: DecisionInput['action'] };

/** No decision makes an account connected; a decision can only end the wait. */
const checkWaitForAccount = (
  { tool }: DecidedSubject,
  { verdict, mayWrite }: { verdict: Verdict | undefined; mayWrite: boolean },
): void => {
  if (verdict !== undefined && verdict.kind !== 'denied')
    throw new Forbidden(`'${tool}' waits until its user connects an account; a decision can only cancel it`);
  if (!mayWrite) throw needing(tool, 'write:all');
};

/** The run ends instead of spending more, which needs no right to the budget. */
const checkWaitForBudget = (
  { tool }: DecidedSubject,
  { principal, mayWrite, action }: Omit<Decider, 'isOwn'>,
): void => {
  if (action === 'cancel' && !mayWrite) throw needing(tool, 'write:all');
  if (action !== 'cancel' && !may(principal, BUDGETS)) throw needing(tool, 'configure:budgets');
};

const checkSubject = (
  { tool, agent_id, resume_mode }: DecidedSubject,
  { principal, mayWrite, isOwn, action }: Decider,
): void => {
  if (resume_mode === 'replay_tool_call') {
    if (may(principal, ['decide', agent_id, tool])) return;
    throw needing(tool, grantOf('decide', agent_id, tool));
  }
  if (isOwn || may(principal, ADMIN)) return;
  if (action !== 'cancel')
    throw new Forbidden(`an answer for '${tool}' must come from the user that the run acts for`);
  if (!mayWrite) throw needing(tool, 'write:all');
};

/** @throws Forbidden if a user is behind both the run and the decision */
const checkOther = (
  { tool }: DecidedSubject,
  {
    principal,
    run,
    people,
  }: { principal: Principal; run: Parameters<typeof checkDecider>[1]; people: People | undefined },
): void => {
  const common =
    principal.credential.kind === 'anonymous'
      ? ANONYMOUS_NAME
      : people && commonUser(people, principal.scope, run, principal);
  if (common !== undefined)
    throw new Forbidden(`a decision on '${tool}' must be by another than '${common}'`);
};

const needing = (tool: string, grant: string): Forbidden =>
  new Forbidden(`a decision on '${tool}' needs ${grant}`, { code: 'forbidden', details: { needs: [grant] } });

/** The author of a decision as stored: the verified principal, else the name that the client sent. */
export const authorOf = ({
  principal,
  decided_by,
  digest,
  passed,
}: DecisionInput): Pick<Resume, 'decided_by' | 'decided_as' | 'principal' | 'digest'> => {
  const actor: Actor | undefined = principal && actorOf(principal);
  if (!actor) return { ...(decided_by !== undefined && { decided_by }), ...passed };
  return {
    decided_by: nameOf(actor),
    ...(decided_by !== undefined && { decided_as: decided_by }),
    principal: actor,
    ...(digest !== undefined && { digest }),
  };
};

type AccessSubject = {
  run_id: string;
  tool: string;
  action: Resume['action'];
  raised?: { wait: Pick<ReachedLimit, 'budget'>; by: BudgetRaise } | undefined;
};

const textOfRaise = ({ wait, by: { extra, run_only } }: NonNullable<AccessSubject['raised']>): string => {
  const amounts = [
    ...(extra.usd === undefined ? [] : [`${extra.usd} USD`]),
    ...(extra.tokens === undefined ? [] : [`${extra.tokens} tokens`]),
  ];
  return `raise budget '${wait.budget}' by ${amounts.join(', ')}${run_only ? ' for the run' : ''}`;
};

/** The decision in the form of the access log; undefined for decisions of the service itself. */
export const accessOf = (
  { principal, from }: DecisionInput,
  { run_id, tool, action, raised }: AccessSubject,
): AccessDraft | undefined => {
  if (!principal) return undefined;
  const { kind, id } = principal.credential;
  return {
    kind: 'decide',
    scope: principal.scope,
    user: nameOf(principal),
    credential: { kind, ...(id !== undefined && { id }) },
    ...from,
    reason: raised ? textOfRaise(raised) : `${action} '${tool}'`,
    run_id,
  };
};
