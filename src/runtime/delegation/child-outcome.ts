import type { RunEvent } from '../../schema/run-event.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import type { SubAgentCall, SubAgentEnd, SubAgentOutcome } from '../../tools/sub-agent.ts';
import type { Attach, Protocol } from '../run/live-channel.ts';
import { ticketsBelow } from '../thread/tickets.ts';

/** The outcome of a sub-agent's run for the call that follows it. */

/** The last question of the call that suspended the child. */
export type Observed = { question?: string };

/** A reader that receives events instead of frames. */
export const createReader =
  ({ onEvent }: SubAgentCall, observed: Observed): Attach =>
  (channel) => {
    const take = (event: RunEvent): string => {
      const question = event.event_type === 'tool_call_done' && event.result.suspension?.suspension.message;
      if (question) observed.question = question;
      onEvent(event);
      return '';
    };
    const protocol: Protocol = {
      name: 'sub-agent',
      createEncoder: () => ({
        event: take,
        text: (delta) => take({ event_type: 'text_delta', delta }),
        reasoning: () => '',
        toolDelta: () => '',
      }),
    };
    channel.attach(protocol, { write() {}, end() {} });
  };

export const childOutcome = (
  child_run_id: string,
  run: RunRecord | undefined,
  observed: Observed,
): SubAgentOutcome => ({
  child_run_id,
  response: run?.final_output ?? '',
  steps: run?.steps ?? 0,
  ...(run?.structured_output !== undefined && { output: { structured: run.structured_output } }),
  ...endFor(run, observed),
});

const endFor = (run: RunRecord | undefined, observed: Observed): SubAgentEnd => {
  if (!run) return { status: 'failed', reason: 'the run was interrupted' };
  if (run.waiting)
    return {
      status: 'waiting',
      needs: needsOf(run),
      ...questionFor(run, observed),
      tickets: ticketsBelow(run),
    };
  const termination = run.termination_reason;
  switch (termination?.type) {
    case 'natural_end':
    case 'behavior_requested':
      return { status: 'completed' };
    case 'cancelled':
      return { status: 'cancelled' };
    case 'stopped':
      return { status: 'failed', reason: `stopped: ${termination.value.code}` };
    case 'blocked':
      return { status: 'failed', reason: `blocked: ${termination.value}` };
    default:
      return { status: 'failed', reason: run.error_payload?.message ?? 'the run has no end' };
  }
};

/** Returns the question of a single ticket; for several tickets, a message that names their tools. */
const questionFor = (run: RunRecord, { question }: Observed): { message?: string } => {
  const [, another] = ticketsBelow(run);
  const text = run.waiting?.tickets?.find(({ message }) => message)?.message ?? question;
  if (!another) return text ? { message: text } : {};
  const tools = ticketsBelow(run).map(({ tool }) => `'${tool}'`);
  return { message: `Decisions required for ${tools.length} calls: ${tools.join(', ')}` };
};

/** A child needs the same as its own sub-agents. */
const needsOf = ({ machine_state }: RunRecord) => {
  switch (machine_state) {
    case 'waiting.forInput':
      return 'input_required';
    case 'waiting.forAuthentication':
      return 'auth_required';
    case 'waiting.forBudget':
      return 'budget_exceeded';
    default:
      return 'suspended';
  }
};
