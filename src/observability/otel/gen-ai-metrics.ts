import type { Attributes, Histogram, Meter } from '@opentelemetry/api';
import type { LoopObserver } from '../../loop/turn.ts';

/** Metrics for all agents by the conventions for generative AI, which define names, units and bounds. */

const DURATIONS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const FIRST_CHUNKS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

type Call = Parameters<LoopObserver['inference']['ended']>[0];
type ToolCall = Parameters<LoopObserver['tools']['ended']>[0];

export type GenAiMetrics = { inference(call: Call): void; tool(call: ToolCall): void };

export const createGenAiMetrics = (meter: Meter): GenAiMetrics => {
  const histogram = (name: string, unit: string, description: string, bounds: number[]): Histogram =>
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: bounds } });
  const duration = histogram('gen_ai.client.operation.duration', 's', 'GenAI operation duration.', DURATIONS);
  const tokens = histogram(
    'gen_ai.client.token.usage',
    '{token}',
    'Number of input and output tokens used.',
    TOKENS,
  );
  const firstChunk = histogram(
    'gen_ai.client.operation.time_to_first_chunk',
    's',
    'Time to receive the first chunk.',
    FIRST_CHUNKS,
  );
  const toolDuration = histogram('gen_ai.execute_tool.duration', 's', 'Duration of tool calls.', DURATIONS);
  return {
    inference(call) {
      const { model, provider, seconds, firstSeconds, usage } = call;
      const of: Attributes = {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': provider,
        'gen_ai.request.model': model,
      };
      duration.record(seconds, call.status === 'error' ? { ...of, 'error.type': call.errorClass } : of);
      if (firstSeconds !== undefined) firstChunk.record(firstSeconds, of);
      for (const [type, amount] of [
        ['input', usage?.prompt_tokens],
        ['output', usage?.completion_tokens],
      ] as const) {
        if (amount !== undefined && amount >= 0) tokens.record(amount, { ...of, 'gen_ai.token.type': type });
      }
    },
    tool(call) {
      const of: Attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': call.tool };
      toolDuration.record(
        call.seconds,
        call.status === 'failed' ? { ...of, 'error.type': call.errorClass } : of,
      );
    },
  };
};
