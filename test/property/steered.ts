import { z } from 'zod';
import { ModelError } from '../../src/models/errors.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Provider } from '../../src/models/model.ts';
import { defineClientTool, defineTool } from '../../src/tools/define-tool.ts';
import { clientTicket } from '../../src/tools/tickets.ts';
import { type Tool, type ToolContext, ToolError } from '../../src/tools/tool.ts';
import { createGates, type Gates } from './gates.ts';
import { nextStep, type Planned, type ToolName } from './plan.ts';

/** A model that follows the plan in its last user message, and tools that record their executions. */

export type Execution = { tool: ToolName; call_id: string; run_id: string; decision: string | undefined };

export type Steered = {
  provider: Provider;
  tools: Tool[];
  /** Waiting inferences and tools. */
  models: Gates;
  calls: Gates;
  requests: { name: string; request: InferenceRequest }[];
  executions: Execution[];
};

const END = { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };

export const createSteered = (): Steered => {
  const models = createGates();
  const calls = createGates();
  const executions: Execution[] = [];
  const requests: Steered['requests'] = [];
  /** Inferences that have already failed once. */
  const failed = new Set<string>();

  const askForTools = (
    sink: InferenceSink,
    { name, slow }: Planned,
    tools: readonly ToolName[],
  ): InferenceEnd => {
    for (const [index, tool] of tools.entries()) {
      const id = `${name}_${index}_${tool}`;
      const args = JSON.stringify({ slow });
      sink.toolStart(id, tool);
      sink.toolDelta(id, args);
      sink.toolEnd(id, args);
    }
    return { ...END, stop: 'ToolUse' };
  };

  const answer = (sink: InferenceSink, step: Planned): InferenceEnd => {
    switch (step.does) {
      case 'say':
        return { ...END, stop: 'EndTurn' };
      case 'cut':
        return { ...END, stop: 'MaxTokens' };
      case 'broken':
        throw new ModelError('unauthorized', 'no');
      case 'flaky':
        if (failed.has(step.name)) return { ...END, stop: 'EndTurn' };
        failed.add(step.name);
        throw new ModelError('overloaded', 'busy');
      default:
        return askForTools(sink, step, step.does);
    }
  };

  const execute = async (tool: ToolName, slow: boolean, context: ToolContext) => {
    const { call_id, run_id, decision, signal } = context;
    executions.push({ tool, call_id, run_id, decision: decision?.decision_id });
    // One tool ignores the abort signal.
    const heeded = tool === 'again' ? undefined : signal;
    const well = slow ? await calls.wait(heeded, () => new ToolError('cancelled', tool)) : true;
    if (!well) throw new Error(`${tool} failed`);
    return { data: { tool } };
  };

  const input = z.object({ slow: z.boolean() });
  const toolOf = (
    id: ToolName,
    more: { idempotent?: true; exclusive?: true; needsApproval?: true } = {},
  ): Tool =>
    defineTool({
      id,
      description: id,
      input,
      ...more,
      execute: ({ slow }, context) => execute(id, slow, context),
    });

  /** Suspends itself, and again for each decision that requests it. */
  const later = defineTool({
    id: 'later',
    description: 'later',
    input,
    execute({ slow }, context) {
      const { decision, call_id } = context;
      const again =
        typeof decision?.result === 'object' && decision.result !== null && 'again' in decision.result;
      if (decision && !again) return execute('later', slow, context);
      const ticket = clientTicket({ id: call_id, name: 'later', arguments: { slow } });
      const id = `late_${call_id}_${decision?.decision_id ?? ''}`;
      return {
        suspend: {
          ...ticket,
          suspension: { ...ticket.suspension, id },
          resume_mode: 'pass_decision_to_tool',
        },
      };
    },
  });

  return {
    models,
    calls,
    requests,
    executions,
    provider: {
      id: 'steered',
      model: (spec) => ({
        id: spec.id,
        provider: 'steered',
        upstream: spec.upstream_model,
        async stream(request, sink, signal) {
          if (signal.aborted) throw new ModelError('cancelled', '');
          const step = nextStep(request);
          requests.push({ name: step.name, request });
          sink.text(step.name);
          if (step.slow) await models.wait(signal, () => new ModelError('cancelled', ''));
          sink.text('.');
          return answer(sink, step);
        },
      }),
    },
    tools: [
      toolOf('free'),
      toolOf('again', { idempotent: true }),
      toolOf('alone', { exclusive: true }),
      toolOf('ask', { needsApproval: true }),
      defineClientTool({ id: 'client', description: 'client', input }),
      later,
      { ...toolOf('denied'), gate: () => ({ kind: 'block', reason: 'denied' }) },
    ],
  };
};
