import { z } from 'zod';
import type { AuthorizationWait } from '../../schema/authorization.ts';
import { Json } from '../../schema/json.ts';
import { ResumeMode, type Run, TicketBelow } from '../../schema/run.ts';
import { waitIn } from './calls.ts';

/**
 * Determines from the state of a run which of its calls were suspended: their first tool message is a placeholder and
 * not a result (chat-and-agui.md 8). The state contains the calls of the last step, and a run does not leave a step
 * with a pending call.
 */

export type Suspension = {
  ticket_id: string;
  resume_mode: ResumeMode;
  digest: string | undefined;
  tickets: TicketBelow[] | undefined;
  /** The account of the user that the call waits for. */
  wait: AuthorizationWait | undefined;
  /** The arguments that a decision has edited. */
  edited: { arguments: Json } | undefined;
  /** Whether the decision is still pending. */
  open: boolean;
};

/** Returns the suspension of a call, by run id and call id. */
export type Suspensions = (run_id: string, call_id: string) => Suspension | undefined;

const CallStates = z.object({
  calls: z.record(
    z.string(),
    z.object({
      status: z.string(),
      resume_mode: ResumeMode,
      suspension_id: z.string().optional(),
      suspension_reason: z.string().optional(),
      suspension_shows: Json.optional(),
      digest: z.string().optional(),
      tickets: z.array(TicketBelow).optional(),
      edited: z.object({ arguments: Json }).optional(),
    }),
  ),
});

const KEY = '__runtime.tool_call_states';

type RunState = Pick<Run, 'run_id' | 'status' | 'state'>;

/** Reads each run once, on first use. `open` contains runs that were read in advance because they may change. */
export const suspensionsIn = (
  read: (run_id: string) => RunState | undefined,
  open: readonly RunState[] = [],
): Suspensions => {
  const known = new Map(open.map((run) => [run.run_id, indexSuspensions([run])]));
  return (run_id, call_id) => {
    const run = known.has(run_id) ? undefined : read(run_id);
    const suspensions = known.get(run_id) ?? indexSuspensions(run ? [run] : []);
    known.set(run_id, suspensions);
    return suspensions(run_id, call_id);
  };
};

export const indexSuspensions = (runs: Iterable<RunState>): Suspensions => {
  const known = new Map<string, Map<string, Suspension>>();
  for (const { run_id, status, state } of runs) {
    const stored = CallStates.safeParse(state?.extensions[KEY]);
    if (!stored.success) continue;
    const calls = new Map<string, Suspension>();
    for (const [id, call] of Object.entries(stored.data.calls)) {
      if (call.suspension_id === undefined) continue;
      const open = call.status === 'suspended' && status !== 'done';
      const { suspension_id: ticket_id, resume_mode, digest, tickets, edited } = call;
      const wait = waitIn(call.suspension_reason, call.suspension_shows);
      calls.set(id, { ticket_id, resume_mode, digest, tickets, wait, edited, open });
    }
    known.set(run_id, calls);
  }
  return (run_id, call_id) => known.get(run_id)?.get(call_id);
};
