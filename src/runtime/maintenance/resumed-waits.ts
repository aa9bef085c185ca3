import { NotFound } from '../../schema/outcome.ts';
import type { Run, WaitingTicket } from '../../schema/run.ts';
import { ownTurn } from '../../schema/turns.ts';
import type { RuntimeDeps } from '../deps.ts';
import type { Supervisor } from '../thread/supervisor.ts';
import { decideTarget } from '../thread/targets.ts';
import { ticketsOf } from '../thread/tickets.ts';

/**
 * Resumes runs that wait for something other than a decision, once it has happened: an account is connected
 * (identity.md 6.2), a budget has room (identity.md 5.4).
 *
 * Relies on the deadline of every such wait, so that no other list is needed to find the runs, also after a restart.
 * Cost: one read for each run with a deadline, one page per event-loop tick.
 */

/** Returns the author of the decision that ends the wait of a ticket; undefined if the wait continues. */
export type EndOfWait = (
  scope: string,
  run: Run,
  ticket: WaitingTicket,
) => { decided_by?: string; reason?: string } | undefined;

type Deps = Pick<RuntimeDeps, 'store' | 'log'> & {
  supervisor: Pick<Supervisor, 'record' | 'reach' | 'outside'>;
};

const PAGE = 64;

/** Resumes every run with a ticket whose wait has ended. */
export const resumeWaits = async (deps: Deps, ends: EndOfWait): Promise<void> => {
  const { store } = deps;
  let page = store.deadlines.due(Number.POSITIVE_INFINITY, PAGE);
  while (page.length > 0) {
    for (const { scope, run_id } of page) {
      const run = store.runs.get(scope, run_id);
      if (run) await resumeWaitsOf(deps, scope, run, ends);
    }
    await ownTurn();
    page = store.deadlines.due(Number.POSITIVE_INFINITY, PAGE, page.at(-1));
  }
};

/** The same for one run. A ticket that was decided in the meantime, or whose run has ended, is left alone. */
export const resumeWaitsOf = async (deps: Deps, scope: string, run: Run, ends: EndOfWait): Promise<void> => {
  for (const ticket of ticketsOf(run)) {
    const end = ends(scope, run, ticket);
    if (!end) continue;
    const target = { id: run.run_id, kind: 'run' } as const;
    const decision = { tool_call_id: ticket.ticket_id, action: 'resume', payload: null, ...end } as const;
    await decideTarget(deps, scope, target, decision).catch((err: unknown) => {
      if (err instanceof NotFound) return;
      deps.log.error('ticket.resume_failed', { err, thread_id: run.thread_id, run_id: run.run_id });
    });
  }
};
