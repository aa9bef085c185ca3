import type { ServiceLog } from '../../schema/log-events.ts';
import type { ToolCall } from '../../schema/message.ts';
import { definePlugin } from '../define.ts';
import type { HookContext, Phase, Plugin } from '../plugin.ts';

export type PhaseLog = Pick<ServiceLog, 'info'>;

/** Writes a log line for each phase of a run (agent-loop.md 18.3), except gates, which have no effects. */
export const createPhaseLogger = ({ log }: { log: PhaseLog }): Plugin => {
  const record = (phase: Phase) => (context: HookContext & { call?: ToolCall }) => {
    log.info('run.phase', { phase, ...whereaboutsOf(context) });
    return undefined;
  };
  return definePlugin({
    id: 'phase_logger',
    create: () => ({
      hooks: {
        run_start: record('run_start'),
        step_start: record('step_start'),
        before_inference: record('before_inference'),
        after_inference: record('after_inference'),
        before_tool_execute: record('before_tool_execute'),
        after_tool_execute: record('after_tool_execute'),
        step_end: record('step_end'),
        run_end: record('run_end'),
      },
    }),
  });
};

/** Ids only: text of users and models must not appear in a log. */
const whereaboutsOf = ({
  run_id,
  thread_id,
  agent,
  step_index,
  call,
}: HookContext & { call?: ToolCall }) => ({
  run_id,
  thread_id,
  agent_id: agent.id,
  step_index,
  ...(call && { call_id: call.id, tool: call.name }),
});
