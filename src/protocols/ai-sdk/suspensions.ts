import { z } from 'zod';
import { Json } from '../../schema/json.ts';
import { ResumeMode, type Run, TicketBelow } from '../../schema/run.ts';

/**
 * Which calls of a run have waited for somebody, from the state of the run: their first tool message is a
 * placeholder and no result (chat-and-agui.md 8). The state has the calls of the last step, and a run does not go
 * beyond a step in which a call waits.
 */

export type Suspension = {
  ticket_id: string;
  resume_mode: ResumeMode;
  digest: string | undefined;
  tickets: TicketBelow[] | undefined;
  /** What a decision has put in place of the arguments. */
  edited: { arguments: Json } | undefined;
  /** Nobody has answered yet. */
  open: boolean;
};

/** By the id of the run and that of the call. */
export type Suspensions = (run_id: string, call_id: string) => Suspension | undefined;

const CallStates = z.object({
  calls: z.record(
    z.string(),
    z.object({
      status: z.string(),
      resume_mode: ResumeMode,
      suspension_id: z.string().optional(),
      digest: z.string().optional(),
      tickets: z.array(TicketBelow).optional(),
      edited: z.object({ arguments: Json }).optional(),
    }),
  ),
});

const KEY = '__runtime.tool_call_states';

type RunState = Pick<Run, 'run_id' | 'status' | 'state'>;

/** Reads each run once, when it is first needed. `open`: runs that were read already, because they may change. */
export const suspensionsIn = (
  read: (run_id: string) => RunState | undefined,
  open: readonly RunState[] = [],
): Suspensions => {
  const known = new Map(open.map((run) => [run.run_id, suspensionsOf([run])]));
  return (run_id, call_id) => {
    const run = known.has(run_id) ? undefined : read(run_id);
    const suspensions = known.get(run_id) ?? suspensionsOf(run ? [run] : []);
    known.set(run_id, suspensions);
    return suspensions(run_id, call_id);
  };
};

export const suspensionsOf = (runs: Iterable<RunState>): Suspensions => {
  const known = new Map<string, Map<string, Suspension>>();
  for (const { run_id, status, state } of runs) {
    const stored = CallStates.safeParse(state?.extensions[KEY]);
    if (!stored.success) continue;
    const calls = new Map<string, Suspension>();
    for (const [id, call] of Object.entries(stored.data.calls)) {
      if (call.suspension_id === undefined) continue;
      const open = call.status === 'suspended' && status !== 'done';
      const { suspension_id: ticket_id, resume_mode, digest, tickets, edited } = call;
      calls.set(id, { ticket_id, resume_mode, digest, tickets, edited, open });
    }
    known.set(run_id, calls);
  }
  return (run_id, call_id) => known.get(run_id)?.get(call_id);
};
