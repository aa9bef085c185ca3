import { z } from 'zod';
import type { InferenceRequest } from '../models/model.ts';
import type { JsonObject } from '../schema/json.ts';
import { asObjectSchema, DEFAULT_OUTPUT, isObjectRoot, type OutputOptions } from '../schema/output.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import { defineState, update } from '../tools/state.ts';
import { isLastRound } from './rounds.ts';
import type { Turn } from './turn.ts';

/**
 * The structured result that a run must end with (work.md A): whether it has one, and how its model is asked for it.
 *
 * Guarantees: a run without a schema costs one look at its agent for each inference. The tool of the result is in the
 * request and nowhere else: no gate, list, event or history has it.
 */

export type WantedOutput = { schema: JsonObject; options: OutputOptions };

/** The schema of the request, else that of the agent that the run has now. */
export const wantedOutput = ({ outputSchema, agent: { spec } }: Turn): WantedOutput | undefined => {
  const schema = outputSchema === undefined ? spec.output_schema : outputSchema;
  return schema == null ? undefined : { schema, options: spec.output_options ?? DEFAULT_OUTPUT };
};

const OutputProgress = z.object({
  /** Repairs of the run. */
  repairs: z.int(),
  /** Those since the last input of a user. */
  tries: z.int(),
  /** The next inference is asked for the result and nothing else. */
  forced: z.boolean(),
  /** Arguments of a call for the result that came with calls of tools, which are executed first. */
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

/** New input of a user: repairs are counted from here. */
export const restartRepairs = (turn: Pick<Turn, 'state'>): void => {
  if (outputProgress(turn) !== NONE) noteOutputProgress(turn, { tries: 0, forced: false });
};

/** How an inference is asked for the result. `tool`: the name of the call that gives it. */
export type OutputPlan = WantedOutput & ({ mode: 'native' | 'prompt' } | { mode: 'tool'; tool: string });

/** Undefined for a mode that the model does not have. */
export const planOutput = (
  turn: Turn,
  wanted: WantedOutput,
  offered: readonly ToolDescriptor[],
): OutputPlan | undefined => {
  const { agent, overrides } = turn;
  const { mode } = wanted.options;
  if (agent.remote) return mode === 'auto' || mode === 'prompt' ? { ...wanted, mode: 'prompt' } : undefined;
  if (mode === 'prompt') return { ...wanted, mode };
  const support = agent.model.structured?.(wanted.schema, overrides.upstream_model ?? undefined);
  const isNative =
    isObjectRoot(wanted.schema) &&
    (support === 'with_tools' || (support === 'alone' && offered.length === 0));
  if (mode === 'native') return isNative ? { ...wanted, mode } : undefined;
  if (mode === 'auto' && isNative) return { ...wanted, mode: 'native' };
  return { ...wanted, mode: 'tool', tool: freeName(turn, offered) };
};

export const unsupportedMode = ({ agent }: Turn, { options }: WantedOutput): string =>
  `output mode '${options.mode}' is not supported by model '${agent.model.id}'`;

const freeName = ({ agent }: Turn, offered: readonly ToolDescriptor[]): string => {
  const taken = (name: string): boolean => agent.tools.has(name) || offered.some(({ id }) => id === name);
  let name = 'final_answer';
  for (let n = 2; taken(name); n += 1) name = `final_answer_${n}`;
  return name;
};

/**
 * The request with what asks for the result. Where nothing else is left to do, in the last allowed round and after an
 * answer that does not fit, the result is all that the model can give.
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
      return { ...request, tools, system: [...request.system, instructionOf(plan)] };
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

/** For a model, or another service, that has neither a field nor a tool for it. */
export const instructionOf = ({ schema }: Pick<WantedOutput, 'schema'>): string =>
  `When the task is done, answer with its result as JSON and with nothing else. The result must fit this JSON Schema:\n${JSON.stringify(schema)}`;
