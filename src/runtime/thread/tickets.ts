import { z } from 'zod';
import { isRemembered, memoryProblem } from '../../loop/accept-decision.ts';
import type { AccessDraft } from '../../schema/access-event.ts';
import type { Resume } from '../../schema/activation.ts';
import { AUTH_REQUIRED } from '../../schema/authorization.ts';
import { BUDGET_EXCEEDED, BudgetRaise, ReachedLimit } from '../../schema/budget.ts';
import { digestOfCall, digestOfTicket } from '../../schema/call-digest.ts';
import type { Json } from '../../schema/json.ts';
import { Conflict, Unprocessable } from '../../schema/outcome.ts';
import type { ResumeMode, Run, TicketBelow, WaitingTicket } from '../../schema/run.ts';
import type { FoundTicket } from '../../tools/find-ticket.ts';
import { UNCLEAR, type Verdict, verdictOf } from '../../tools/verdict.ts';
import type { Write } from '../ledger/transaction.ts';
import { logEvent } from '../ledger/transaction.ts';
import { accessOf, authorOf, checkDecider } from './deciders.ts';
import type { People } from './people.ts';
import type { DecisionInput } from './submission.ts';

/**
 * Decisions on the tickets of waiting runs (runtime.md 2.9, 12).
 *
 * Guarantees: a decision is accepted only for the ticket that it names, or the listed tickets below it; it executes
 * nothing that the ticket does not show. A rejected decision has a reason and changes nothing.
 */

/** With the run of the ticket, its agent, and the user for whom it acts. */
export type OpenTicket = WaitingTicket & {
  run_id: string;
  agent_id: string;
  user: string | undefined;
  /** The credential of the request that gave the input of the run. */
  credential?: Run['credential'] | undefined;
};

/** Returns the open, undecided tickets of a run without an execution. */
export const ticketsOf = (run: Run): WaitingTicket[] => {
  const decided = new Set(run.activation?.seeded_decisions?.map(([call_id]) => call_id));
  return run.waiting?.tickets?.filter(({ tool_call_id }) => !decided.has(tool_call_id)) ?? [];
};

/** Returns the tickets of a run as listed by a call that waits for the run, including those of its delegates. */
export const ticketsBelow = (run: Run): TicketBelow[] =>
  ticketsOf(run).flatMap(
    (ticket) =>
      ticket.tickets ??
      (isOfDelegate(ticket)
        ? []
        : {
            id: ticket.ticket_id,
            tool: ticket.tool_name,
            arguments: ticket.arguments ?? null,
            digest: digestOfTicket(ticket),
            agent_id: run.agent_id,
            run_id: run.run_id,
            resume_mode: ticket.resume_mode,
            ...(hasOwnEnd(ticket) && { reason: ticket.reason }),
            ...(ticket.deciders && { deciders: ticket.deciders }),
          }),
  );

/** Whether no decision of `decide` is what the ticket waits for. */
const hasOwnEnd = ({ reason }: Pick<WaitingTicket, 'reason'>): boolean =>
  reason === AUTH_REQUIRED || reason === BUDGET_EXCEEDED;

/** A delegate that waits for input has no ticket itself. */
export const isOfDelegate = ({ reason = '' }: WaitingTicket): boolean => reason.startsWith('agent_delegate:');

/** An accepted decision; it applies to this ticket only. */
export type Decided = {
  run_id: string;
  call_id: string;
  ticket_id: string;
  resume: Omit<Resume, 'decision_id' | 'updated_at'>;
  /** Arguments that must be validated first, for the call of this run. */
  edit: { run_id: string; tool: string; arguments: Json } | undefined;
  /** The amount that the decision adds to a budget, and the limit that its run waits for. */
  raises?: Raises | undefined;
  /** Absent for decisions of the service itself. */
  access?: AccessDraft | undefined;
};

export type Raises = { wait: ReachedLimit; by: BudgetRaise };

/** The subject of a decision: the call itself, or one that a delegate waits with. */
type Subject = {
  run_id: string;
  ticket_id: string;
  tool: string;
  digest: string;
  resume_mode: ResumeMode;
  agent_id: string;
  reason: string | undefined;
  deciders: 'others' | undefined;
  /** The arguments that the ticket shows. */
  shown: Json;
};

/** Data for the checks of a decision, in addition to its ticket; absent for decisions without a principal. */
export type DecisionChecks = {
  people: People;
  /** Returns when the definition of a tool of the agent last changed, undefined if it never did. */
  changedAt(subject: Pick<Subject, 'agent_id' | 'tool'>): number | undefined;
};

/** @throws Forbidden, Conflict, Unprocessable */
export const acceptDecision = (
  found: FoundTicket<OpenTicket>,
  input: DecisionInput,
  checks?: DecisionChecks,
): Decided => {
  const { ticket } = found;
  const { action, payload, form } = input;
  if (input.accepted) return passedDecision(ticket, input, input.accepted);
  const below = subjectsBelow(found);
  const subjects = below ?? [subjectOf(ticket)];
  // Refusing a delegating call as a whole also ends its delegate.
  const endsDelegate = action === 'cancel' && below !== undefined && !found.below;
  const verdicts = endsDelegate
    ? []
    : subjects.map((each) => verdictOf(each, { action, payload, ...(form && { form }) }));
  checkDecider(input, ticket, subjects, { verdicts, people: checks?.people });
  const { edit, digest } = checkVerdicts(found, input, subjects, verdicts);
  checkDefinitions(ticket, subjects, verdicts, checks);
  checkMemory(payload, subjects);
  const raised = action === 'resume' ? raiseIn(subjects, payload) : undefined;
  const decision = { ...input, digest };
  if (endsDelegate) return decidedOn(ticket, decision, { action });
  if (!below) return { ...decidedOn(ticket, decision, { action: actionOf(verdicts[0]) }, raised), edit };
  const passed = below.map(({ run_id, ticket_id }, index) => ({
    run_id,
    ticket_id,
    action: actionOf(verdicts[index]),
  }));
  return { ...decidedOn(ticket, decision, { action: 'resume', below: passed }, raised), edit };
};

/** Returns a decision that was accepted, and validated, on the ticket above. */
const passedDecision = (
  ticket: OpenTicket,
  input: DecisionInput,
  accepted: NonNullable<DecisionInput['accepted']>,
): Decided => {
  if (ticket.tickets) return decidedOn(ticket, input, { action: 'resume', below: [...accepted] });
  return decidedOn(ticket, input, { action: accepted[0]?.action ?? 'cancel' });
};

const decidedOn = (
  { run_id, tool_call_id, ticket_id, tool_name, reason, arguments: shown = null }: OpenTicket,
  input: DecisionInput,
  effect: Pick<Resume, 'action' | 'below'>,
  raised?: Raises,
): Decided => ({
  run_id,
  call_id: tool_call_id,
  ticket_id,
  resume: {
    result: input.payload,
    ...effect,
    ...(input.reason !== undefined && { reason: input.reason }),
    ...authorOf(input),
  },
  edit: undefined,
  raises: effect.action === 'resume' ? raisesOf(reason, shown, input.payload) : undefined,
  access: accessOf(input, { run_id, tool: tool_name, action: effect.action, raised }),
});

const actionOf = (verdict: Verdict | undefined): Resume['action'] =>
  verdict?.kind === 'denied' ? 'cancel' : 'resume';

const subjectOf = (ticket: OpenTicket): Subject => ({
  run_id: ticket.run_id,
  ticket_id: ticket.ticket_id,
  tool: ticket.tool_name,
  digest: digestOfTicket(ticket),
  resume_mode: ticket.resume_mode,
  agent_id: ticket.agent_id,
  reason: ticket.reason,
  deciders: ticket.deciders,
  shown: ticket.arguments ?? null,
});

/** Undefined for a ticket that lists no tickets. */
const subjectsBelow = ({ ticket, below: named }: FoundTicket<OpenTicket>): Subject[] | undefined =>
  ticket.tickets && (named ? [named] : ticket.tickets).map(subjectBelow);

const subjectBelow = ({
  run_id,
  id,
  tool,
  digest,
  resume_mode,
  agent_id,
  reason,
  deciders,
  arguments: shown,
}: TicketBelow): Subject => ({
  run_id,
  ticket_id: id,
  tool,
  digest,
  resume_mode,
  agent_id,
  reason,
  deciders,
  shown,
});

/** Returns what a decision adds to the one budget that it is about. @throws Unprocessable */
const raiseIn = (subjects: readonly Subject[], payload: Json): Raises | undefined => {
  const raises = subjects.flatMap(({ reason, shown }) => raisesOf(reason, shown, payload) ?? []);
  if (raises.length > 1)
    throw new Unprocessable(`"extra" raises one budget: decide one of ${idsOf(subjects)}`);
  return raises[0];
};

/**
 * Returns the amount that a decision adds to the budget of a ticket; a decision without an amount only checks the
 * budget again. @throws Unprocessable
 */
const raisesOf = (reason: string | undefined, shown: Json, payload: Json): Raises | undefined => {
  if (reason !== BUDGET_EXCEEDED || payload === null) return undefined;
  const wait = ReachedLimit.parse(shown);
  const { data: by, error } = BudgetRaise.safeParse(payload);
  if (!by) throw new Unprocessable(`say {"extra": {"${wait.unit}": …}}: ${z.prettifyError(error)}`);
  if (by.extra[wait.unit] === undefined)
    throw new Unprocessable(
      `"extra" must raise "${wait.unit}", the exceeded limit of budget '${wait.budget}'`,
    );
  return { wait, by };
};

const CHANGED = 'the call has changed';

/** Returns the edited call, and the digest of what is decided. @throws Conflict, Unprocessable */
const checkVerdicts = (
  { ticket, below }: FoundTicket<OpenTicket>,
  { digest }: DecisionInput,
  subjects: readonly Subject[],
  verdicts: readonly Verdict[],
): { edit: Decided['edit']; digest: string } => {
  const [subject, another] = subjects;
  const edited = verdicts.flatMap((verdict) =>
    verdict.kind === 'approved' && verdict.arguments !== undefined ? [verdict.arguments] : [],
  );
  const [args] = edited;
  if (args !== undefined && another)
    throw new Unprocessable(`"arguments" replace those of one call: decide one of ${idsOf(subjects)}`);
  if (args !== undefined && digest === undefined)
    throw new Unprocessable('edited arguments are decided with the digest of the edited call');
  const call = args !== undefined && subject ? { tool: subject.tool, arguments: args } : undefined;
  const expected = call ? digestOfCall(call) : (below?.digest ?? digestOfTicket(ticket));
  if (digest !== undefined && digest !== expected) throw new Conflict(CHANGED);
  if (verdicts.some(({ kind }) => kind === 'unclear')) throw new Unprocessable(UNCLEAR);
  const approves = verdicts.some(({ kind }) => kind === 'approved');
  if (approves && another && digest === undefined)
    throw new Unprocessable(
      `'${ticket.ticket_id}' lists ${subjects.length} tickets: send its digest to decide all of them, or decide one of ${idsOf(subjects)}`,
    );
  return { edit: call && subject ? { run_id: subject.run_id, ...call } : undefined, digest: expected };
};

/** A call is not approved with a definition of its tool that the ticket was not about. @throws Conflict */
const checkDefinitions = (
  { updated_at }: OpenTicket,
  subjects: readonly Subject[],
  verdicts: readonly Verdict[],
  checks: DecisionChecks | undefined,
): void => {
  for (const [index, subject] of subjects.entries()) {
    if (verdicts[index]?.kind !== 'approved') continue;
    if ((checks?.changedAt(subject) ?? 0) > updated_at) throw new Conflict(CHANGED);
  }
};

const idsOf = (subjects: readonly Subject[]): string =>
  subjects.map(({ ticket_id }) => `'${ticket_id}'`).join(', ');

/** @throws Unprocessable */
const checkMemory = (payload: Json, subjects: readonly Subject[]): void => {
  for (const { tool, resume_mode, deciders } of subjects) {
    const problem = resume_mode === 'replay_tool_call' ? memoryProblem(payload, tool) : undefined;
    if (problem !== undefined) throw new Unprocessable(problem);
    if (deciders === 'others' && isRemembered(payload))
      throw new Unprocessable(`a decision on '${tool}' cannot be remembered: others must decide each call`);
  }
};

export type DeliveryPath = 'local_live' | 'durable_dispatch';

export const logDecision = (
  write: Write,
  about: Pick<Decided, 'run_id' | 'call_id' | 'access'> & { thread_id: string; dispatch_id: string },
  decision: Resume,
  delivery_path: DeliveryPath,
): void => {
  const { decision_id, action, result, reason = null, below, updated_at } = decision;
  const { decided_by, decided_as, principal, digest } = decision;
  const payload = {
    thread_id: about.thread_id,
    run_id: about.run_id,
    dispatch_id: about.dispatch_id,
    tool_call_id: about.call_id,
    decision_id,
    action,
    result,
    reason,
    ...(decided_by !== undefined && { decided_by }),
    ...(decided_as !== undefined && { decided_as }),
    ...(principal && { principal }),
    ...(digest !== undefined && { digest }),
    ...(below && { below }),
    resume_updated_at: updated_at,
    delivery_path,
  };
  const options = { run_id: about.run_id, correlation_id: decision_id };
  if (about.access)
    write.ledger.deps.recordAccess?.(write.batch, { ...about.access, thread_id: about.thread_id });
  logEvent(write, 'MailboxDecisionReceived', payload, options);
  const approved = approvedIn(result);
  if (typeof approved === 'boolean')
    logEvent(write, 'ToolPermissionResolved', { ...payload, approved }, options);
};

const approvedIn = (payload: Resume['result']): unknown =>
  typeof payload === 'object' && payload !== null && !Array.isArray(payload) ? payload.approved : undefined;
