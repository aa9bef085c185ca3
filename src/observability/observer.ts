import type { Metrics } from './metrics/metrics.ts';
import type { EndedRun } from './statistics/records.ts';
import type { RuntimeStats } from './statistics/runtime-stats.ts';

/**
 * Passes observations of the runtime on to the metrics, which have no agent labels, and to the statistics of the agent.
 */

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
  /** Metrics exported by OTLP. */
  genAi?: { inference(call: InferenceEnded): void; tool(call: ToolEnded): void } | undefined;
}) => ({
  runs: {
    ...metrics.runs,
    sessionEnded(seconds: number, { agent, ...run }: ByAgent<EndedRun>) {
      metrics.runs.sessionEnded(seconds);
      stats?.runEnded(agent, run);
    },
  },
  mailbox: metrics.mailbox,
  inference: {
    ended(call: InferenceEnded) {
      metrics.inference.ended(call);
      genAi?.inference(call);
      stats?.inference(call.agent, {
        provider: call.provider,
        model: call.model,
        durationMs: call.seconds * 1000,
        error: call.status === 'error' ? call.errorClass : undefined,
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
  threads: metrics.threads,
  taskCommitFailed: metrics.tasks.commitFailed,
});
