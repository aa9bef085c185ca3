import { AUTH_REQUIRED, AuthorizationWait } from '../../schema/authorization.ts';
import { NotFound } from '../../schema/outcome.ts';
import { baseOf } from '../../schema/partition.ts';
import type { Run, WaitingTicket } from '../../schema/run.ts';
import { ownTurn } from '../../schema/turns.ts';
import type { RuntimeDeps } from '../deps.ts';
import type { Supervisor } from '../thread/supervisor.ts';
import { decideTarget } from '../thread/targets.ts';
import { ticketsOf } from '../thread/tickets.ts';

/**
 * Resumes calls whose account has been connected (identity.md 6.2).
 *
 * Relies on the time limit of these tickets: every run that waits for an account has a deadline, so that no
 * other list is needed to find the runs, also after a restart.
 * Cost: one read for each run with a deadline, one page per event-loop tick.
 */

/** A call that waits for an account of the user that its run acts for. */
export type WaitingForAccount = {
  account: { scope: string; user: string | undefined };
  wait: AuthorizationWait;
};

export type IsConnected = (call: WaitingForAccount) => boolean;

type Deps = Pick<RuntimeDeps, 'store' | 'log'> & {
  supervisor: Pick<Supervisor, 'record' | 'reach' | 'outside'>;
};

const PAGE = 64;

/** Resumes every call for which `isConnected` returns true. */
export const resumeAuthorized = async (deps: Deps, isConnected: IsConnected): Promise<void> => {
  const { store } = deps;
  let page = store.deadlines.due(Number.POSITIVE_INFINITY, PAGE);
  while (page.length > 0) {
    for (const { scope, run_id } of page) {
      const run = store.runs.get(scope, run_id);
      if (run) await resumeCallsOf(deps, scope, run, isConnected);
    }
    await ownTurn();
    page = store.deadlines.due(Number.POSITIVE_INFINITY, PAGE, page.at(-1));
  }
};

/** A call that was decided in the meantime, or whose run has ended, is left alone. */
export const resumeCallsOf = async (
  deps: Deps,
  scope: string,
  run: Run,
  isConnected: IsConnected,
): Promise<void> => {
  for (const { ticket_id, wait } of waitsOf(run)) {
    if (!isConnected({ account: accountOf(scope, run), wait })) continue;
    const target = { id: run.run_id, kind: 'run' } as const;
    const decision = { tool_call_id: ticket_id, action: 'resume', payload: null } as const;
    const by = run.user === undefined ? {} : { decided_by: run.user };
    await decideTarget(deps, scope, target, { ...decision, ...by }).catch((err: unknown) => {
      if (err instanceof NotFound) return;
      deps.log.error('ticket.resume_failed', { err, thread_id: run.thread_id, run_id: run.run_id });
    });
  }
};

const waitsOf = (run: Run) =>
  ticketsOf(run)
    .filter(isForAccount)
    .flatMap(({ ticket_id, arguments: shown }) => {
      const wait = AuthorizationWait.safeParse(shown).data;
      return wait ? [{ ticket_id, wait }] : [];
    });

const isForAccount = ({ reason }: WaitingTicket): boolean => reason === AUTH_REQUIRED;

const accountOf = (scope: string, { user }: Run) => ({ scope: baseOf(scope), user });
