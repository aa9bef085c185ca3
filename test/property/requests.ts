import type { Answer, Input, Request } from './client.ts';
import { ask, type Decided, inputOf, type Sequence, ticketsOf } from './sequence.ts';
import { runsOf } from './service.ts';
import type { Act } from './steps.ts';

/** Requests of clients with their targets. Undefined: no target exists. */

const ASKED = ['run', 'message', 'push', 'input', 'decide', 'cancel', 'interrupt', 'remove'] as const;
type Asked = (typeof ASKED)[number];

export type Asks = Extract<Act, { do: Asked }>;

export const asks = (act: Act): act is Asks => ASKED.some((name) => name === act.do);

type Asking = {
  [Name in Asked]: (sequence: Sequence, act: Extract<Act, { do: Name }>) => Request | undefined;
};

export const pick = <Value>(values: readonly Value[], which: number): Value | undefined =>
  values[which % values.length];

/** The newest runs are the most likely to have something to decide or cancel. */
const runAt = (sequence: Sequence, which: number) => pick(runsOf(sequence).reverse(), which);

const idOf = (target: 'run' | 'dispatch' | 'thread', run: NonNullable<ReturnType<typeof runAt>>): string =>
  ({ run: run.run_id, dispatch: run.dispatch_id ?? run.run_id, thread: run.thread_id })[target];

const say = (
  sequence: Sequence,
  route: 'runs' | 'messages' | 'mailbox',
  input: Parameters<typeof inputOf>[1],
): Request => {
  const made = inputOf(sequence, input, route === 'runs');
  const asked = ask<Input>(sequence, made, (self) => sequence.client.say(self, route));
  sequence.inputs.push(asked);
  return asked;
};

const other = (
  sequence: Sequence,
  request: Pick<Request, 'name' | 'thread'>,
  send: () => Promise<Answer>,
): Request => {
  const asked = ask<Request>(sequence, request, send);
  sequence.others.push(asked);
  return asked;
};

const DECISIONS = {
  approve: { action: 'resume', payload: { approved: true } },
  again: { action: 'resume', payload: { again: true } },
  refuse: { action: 'resume', payload: { approved: false } },
  cancel: { action: 'cancel', payload: null },
} as const;

const isPermission = (call_id: string): boolean => call_id.endsWith('_ask');

const asking: Asking = {
  run: (sequence, { thread, agent, plan }) =>
    say(sequence, 'runs', { name: 'run', thread, agent, mode: 'foreground', plan }),
  message: (sequence, { thread, agent, mode, plan }) =>
    say(sequence, 'messages', { name: mode, thread, mode, plan, ...(agent !== undefined && { agent }) }),
  push: (sequence, { thread, plan }) =>
    say(sequence, 'mailbox', { name: 'push', thread, mode: 'queue', plan }),
  input(sequence, { which, mode, plan }) {
    const run = runAt(sequence, which);
    if (!run) return undefined;
    const { run_id, thread_id: thread } = run;
    const made = inputOf(sequence, { name: `input ${mode}`, thread, mode, plan, into: run_id });
    const asked = ask<Input>(sequence, made, (self) => sequence.client.inputTo(self, run_id));
    sequence.inputs.push(asked);
    return asked;
  },
  decide(sequence, { which, target, by, answer }) {
    const runs = new Map(runsOf(sequence).map((run) => [run.run_id, run]));
    const tickets = ticketsOf(sequence);
    const open = tickets.filter(({ run_id }) => runs.get(run_id)?.status === 'waiting');
    const ticket = pick([...open, ...tickets], which);
    const run = ticket && runs.get(ticket.run_id);
    if (!ticket || !run) return undefined;
    const { call_id, run_id } = ticket;
    // A permission is approved or denied; `consent.test.ts` covers the other decisions.
    const given = answer === 'again' && isPermission(call_id) ? 'approve' : answer;
    const { action, payload } = DECISIONS[given];
    // The id of a call identifies its ticket until the call was decided once.
    const isDecided = sequence.decisions.some((earlier) => earlier.call_id === call_id);
    const ids = {
      call: isDecided ? ticket.ticket_id : call_id,
      ticket: ticket.ticket_id,
      nothing: 'nothing',
    };
    const tool_call_id = ids[by];
    const refuses = action === 'cancel' || (given === 'refuse' && isPermission(call_id));
    const request = { name: `decide ${given} ${call_id}`, thread: run.thread_id, run_id, call_id, refuses };
    const kind = target === 'thread' ? 'thread' : 'run';
    const asked = ask<Decided>(sequence, request, () =>
      sequence.client.decide(kind, idOf(target, run), { tool_call_id, action, payload }),
    );
    sequence.decisions.push(asked);
    return asked;
  },
  cancel(sequence, { which, target }) {
    const run = runAt(sequence, which);
    if (!run) return undefined;
    const kind = target === 'thread' ? 'thread' : 'run';
    const request = { name: `cancel ${target} ${run.run_id}`, thread: run.thread_id };
    return other(sequence, request, () => sequence.client.cancel(kind, idOf(target, run)));
  },
  interrupt: (sequence, { thread }) =>
    other(sequence, { name: 'interrupt', thread }, () => sequence.client.interrupt(thread)),
  remove(sequence, { thread }) {
    const request = { name: 'remove', thread };
    const asked = ask<Request>(sequence, request, () => sequence.client.remove(thread));
    sequence.removals.push(asked);
    return asked;
  },
};

export const request = (sequence: Sequence, act: Asks): Request | undefined =>
  // The table has one entry for the name of each of these acts.
  (asking[act.do] as (sequence: Sequence, act: Asks) => Request | undefined)(sequence, act);
