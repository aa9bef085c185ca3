import { ModelError } from '../models/errors.ts';
import type { InferenceRequest, Model } from '../models/model.ts';
import { POOL } from '../models/pool.ts';
import { layered } from '../models/settings/layers.ts';
import type { ContextMessage } from '../plugins/plugin.ts';
import { pickModelSettings } from '../schema/model-settings.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import { beginCompaction, folded } from './compaction.ts';
import { injectContext, placeContext } from './context-messages.ts';
import { modelHistory } from './history.ts';
import { createHookContext, type StepScratch, takeScratch } from './phases.ts';
import { sortedParts } from './plugin-parts.ts';
import { contextOfInference } from './trace.ts';
import type { Step, Turn } from './turn.ts';

/**
 * Builds the request of one inference (agent-loop.md 9.1): system texts, context messages, history, tools, overrides.
 */

export const requestFor = (turn: Turn, step: Step, signal: AbortSignal): InferenceRequest => {
  const { spec, retry } = turn.agent;
  checkBytes(turn);
  const scratch = takeScratch(turn);
  const { due, state } = injectContext(
    turn.state.view(),
    [...clientInstructions(turn), ...scratch.messages],
    step.index,
  );
  if (state.length > 0) turn.state.apply(state);
  const history = modelHistory(folded(turn));
  const { system, messages } = placeContext(spec.system_prompt, due, history);
  const request: InferenceRequest = {
    system,
    messages,
    tools: offered(turn, scratch),
    ...(spec.provider_tools.length > 0 && { provider_tools: spec.provider_tools }),
    overrides: checkedOverrides(turn, layered(pickModelSettings(spec), turn.overrides, scratch.overrides)),
    session: { thread_id: turn.thread_id, run_id: turn.run_id },
    stream_idle_timeout_secs: retry.stream_idle_timeout_secs,
  };
  const trace = contextOfInference(turn, step.index);
  if (trace) request.trace = trace;
  beginCompaction(turn, request);
  const { transforms } = sortedParts(turn.agent);
  if (transforms.length === 0) return request;
  const context = createHookContext(turn, signal);
  return transforms.reduce((before, transform) => transform(before, context), request);
};

/** Added to each request of the run, and never stored in its state. */
const clientInstructions = ({ instructions }: Turn): ContextMessage[] =>
  instructions === undefined
    ? []
    : [{ key: 'client.instructions', content: instructions, target: 'system', role: 'system' }];

/** The limit is checked for input at admission; messages of the run itself may exceed it. */
const checkBytes = (turn: Turn): void => {
  const bytes = turn.committedBytes();
  if (bytes <= turn.mostBytes) return;
  throw new ModelError(
    'invalid_request',
    `the thread holds ${bytes} bytes of messages, more than the ${turn.mostBytes} of thread_limit_bytes`,
  );
};

const checkedOverrides = (
  { agent: { model } }: Turn,
  overrides: InferenceRequest['overrides'],
): InferenceRequest['overrides'] => {
  const problem = upstreamProblem(model, overrides.upstream_model);
  if (problem !== undefined) throw new ModelError('invalid_request', problem);
  return overrides;
};

/**
 * Returns why the model cannot be called under another name (agent-loop.md 1.6). Members of a pool have different
 * names.
 */
export const upstreamProblem = (
  { provider }: Pick<Model, 'provider'>,
  upstream: string | null | undefined,
): string | undefined => {
  if (upstream === '') return 'inference override upstream_model cannot be empty';
  return upstream != null && provider === POOL
    ? 'inference override upstream_model is not supported for model pools'
    : undefined;
};

const offered = (turn: Turn, { excluded, included }: StepScratch): readonly ToolDescriptor[] => {
  const { tools } = turn.agent;
  if (tools.size === 0) return [];
  const descriptors = Array.from(tools.values(), (tool) => tool.descriptor);
  if (excluded.size === 0 && !included) return descriptors;
  return descriptors.filter(({ id }) => !excluded.has(id) && (included?.has(id) ?? true));
};
