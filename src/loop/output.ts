import { z } from 'zod';
import type { InferenceRequest } from '../models/model.ts';
import type { JsonObject } from '../schema/json.ts';
import { asObjectSchema, DEFAULT_OUTPUT, isObjectRoot, type OutputOptions } from '../schema/output.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import { defineState, update } from '../tools/state.ts';
import { isLastRound } from './rounds.ts';
import type { Turn } from './turn.ts';

/**
 * The structured result that a run must end with (structured-results.md): whether one is required, and how it is requested from
 * the model.
 *
 * Guarantees: the result tool is part of the request only: no gate, list, event or history contains it.
 * Cost: for a run without a schema, one read of its agent per inference.
 */

export type WantedOutput = { schema: JsonObject; options: OutputOptions };

/** Returns the schema of the request, else that of the current agent of the run. */
export const wantedOutput = ({ outputSchema, agent: { spec } }: Turn): WantedOutput | undefined => {
  const schema = outputSchema === undefined ? spec.output_schema : outputSchema;
  return schema == null ? undefined : { schema, options: spec.output_options ?? DEFAULT_OUTPUT };
};

const OutputProgress = z.object({
  /** Number of repairs in the run. */
  repairs: z.int(),
  /** Number of repairs since the last user input. */
  tries: z.int(),
  /** Whether the next inference requests only the result. */
  forced: z.boolean(),
  /** Arguments of a result call that came together with tool calls, which are executed first. */
  waiting: z.string().optional(),
});
export type OutputProgress = z.infer<typeof OutputProgress>;

const outputState = defineState({
  key: '__runtime.output',
  scope: 'run',
  hidden: true,
  schema: OutputProgress,
});

const NONE: OutputProgress = { repairs: 0, tries: 0, forced: false };

export const outputProgress = ({ state }: Pick<Turn, 'state'>): OutputProgress =>
  state.view().get(outputState) ?? NONE;

export const noteOutputProgress = (turn: Pick<Turn, 'state'>, change: Partial<OutputProgress>): void => {
  const { waiting, ...rest } = { ...outputProgress(turn), ...change };
  turn.state.apply([update(outputState, { ...rest, ...(waiting !== undefined && { waiting }) })]);
};

/** Restarts the count of repairs for new user input. */
export const restartRepairs = (turn: Pick<Turn, 'state'>): void => {
  if (outputProgress(turn) !== NONE) noteOutputProgress(turn, { tries: 0, forced: false });
};

/** How an inference requests the result. `tool`: the name of the result tool. */
export type OutputPlan = WantedOutput & ({ mode: 'native' | 'prompt' } | { mode: 'tool'; tool: string });

/** Undefined for a mode that the model does not support. */
export const planOutput = (
  turn: Turn,
  wanted: WantedOutput,
  offered: readonly ToolDescriptor[],
): OutputPlan | undefined => {
  if (turn.agent.remote) return planPrompt(wanted);
  const { mode } = wanted.options;
  if (mode === 'prompt') return { ...wanted, mode };
  const isNative = supportsSchema(turn, wanted, offered);
  if (mode === 'native') return isNative ? { ...wanted, mode } : undefined;
  if (mode === 'auto' && isNative) return { ...wanted, mode: 'native' };
  return takesTools(turn) ? { ...wanted, mode: 'tool', tool: freeName(turn, offered) } : planPrompt(wanted);
};

/** For a model, or a remote service, that supports neither a field nor a tool for the result. */
const planPrompt = (wanted: WantedOutput): OutputPlan | undefined => {
  const { mode } = wanted.options;
  return mode === 'auto' || mode === 'prompt' ? { ...wanted, mode: 'prompt' } : undefined;
};

/** Whether the model accepts the schema as a field of a request with the offered tools. */
const supportsSchema = (
  { agent, overrides }: Turn,
  { schema }: WantedOutput,
  offered: readonly ToolDescriptor[],
): boolean => {
  const support = agent.model.structured?.(schema, overrides.upstream_model ?? undefined);
  return isObjectRoot(schema) && (support === 'with_tools' || (support === 'alone' && offered.length === 0));
};

/** The known properties of the model do not apply to another model that the request names. */
const takesTools = ({ agent, overrides }: Turn): boolean =>
  overrides.upstream_model != null || agent.takesTools !== false;

export const unsupportedMode = ({ agent }: Turn, { options }: WantedOutput): string =>
  `output mode '${options.mode}' is not supported by model '${agent.model.id}'`;

const freeName = ({ agent }: Turn, offered: readonly ToolDescriptor[]): string => {
  const taken = (name: string): boolean => agent.tools.has(name) || offered.some(({ id }) => id === name);
  let name = 'final_answer';
  for (let n = 2; taken(name); n += 1) name = `final_answer_${n}`;
  return name;
};

/**
 * Adds the request for the result. In the last allowed round, and after an answer that does not fit, the model can
 * return nothing but the result.
 */
export const requestWithOutput = (
  turn: Turn,
  plan: OutputPlan,
  request: InferenceRequest,
): InferenceRequest => {
  const isLast = isLastRound(turn);
  const isForced = isLast || outputProgress(turn).forced;
  const tools = isLast ? [] : request.tools;
  switch (plan.mode) {
    case 'native':
      return { ...request, tools, output: { name: plan.options.name, schema: plan.schema, strict: true } };
    case 'prompt':
      return { ...request, tools, system: [...request.system, outputInstruction(plan)] };
    case 'tool':
      return {
        ...request,
        tools: [...tools, resultTool(plan)],
        ...(isForced && { toolChoice: { tool: plan.tool } }),
      };
  }
};

const resultTool = ({ tool, schema }: Extract<OutputPlan, { mode: 'tool' }>): ToolDescriptor => ({
  id: tool,
  name: tool,
  description: 'Gives the result of the task, and ends it. Call it once, when everything else is done.',
  category: null,
  parameters: asObjectSchema(schema),
});

/** For a model, or a remote service, that supports neither a field nor a tool for it. */
export const outputInstruction = ({ schema }: Pick<WantedOutput, 'schema'>): string =>
  `When the task is done, answer with its result as JSON and with nothing else. The result must fit this JSON Schema:\n${JSON.stringify(schema)}`;
