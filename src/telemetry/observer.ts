import type { Metrics } from './metrics.ts';
import type { RuntimeStats } from './runtime-stats.ts';

/** One observation of the runtime goes to the metrics, which know no agents, and to the statistics of the agent. */

type ByAgent<Call> = Call & { agent: string };
type InferenceEnded = ByAgent<Parameters<Metrics['inference']['ended']>[0]>;
type CutOff = ByAgent<Parameters<Metrics['inference']['cutOff']>[0]>;
type ToolEnded = ByAgent<Parameters<Metrics['tools']['ended']>[0]>;

export const createObserver = ({
  metrics,
  stats,
  genAi,
}: {
  metrics: Metrics;
  stats: RuntimeStats | undefined;
  /** Exported by OTLP. */
  genAi?: { inference(call: InferenceEnded): void; tool(call: ToolEnded): void } | undefined;
}) => ({
  runs: metrics.runs,
  mailbox: metrics.mailbox,
  inference: {
    ended(call: InferenceEnded) {
      metrics.inference.ended(call);
      genAi?.inference(call);
      stats?.inference(call.agent, {
        durationMs: call.seconds * 1000,
        failed: call.status === 'error',
        inputTokens: call.usage?.prompt_tokens,
        outputTokens: call.usage?.completion_tokens,
        usd: call.cost,
      });
    },
    cutOff(call: CutOff) {
      metrics.inference.cutOff(call);
      stats?.cutOff(call.agent, call);
    },
  },
  tools: {
    ended(call: ToolEnded) {
      metrics.tools.ended(call);
      genAi?.tool(call);
      stats?.tool(call.agent, {
        tool: call.tool,
        durationMs: call.seconds * 1000,
        failed: call.status === 'failed',
      });
    },
  },
  agents: {
    suspension(agent: string, decided?: 'resume' | 'cancel') {
      metrics.agents.suspension(decided);
      stats?.suspension(agent);
    },
    handoff(agent: string) {
      metrics.agents.handoff();
      stats?.handoff(agent);
    },
    delegation(agent: string, ended: { status: 'ok' | 'error'; seconds: number }) {
      metrics.agents.delegation(ended);
      stats?.delegation(agent);
    },
  },
  outputs: metrics.outputs,
  tasks: { ended: metrics.tasks.ended },
  taskCommitFailed: metrics.tasks.commitFailed,
});
