import { isDeepStrictEqual } from 'node:util';
import { applyAgentPatch } from '../configuration/agent-patch.ts';
import type { Live } from '../configuration/control-plane/live.ts';
import type { ResolvedAgent } from '../loop/agent.ts';
import { BOUNDS } from '../models/bounds.ts';
import { ModelError } from '../models/errors.ts';
import type { InferenceSink, Model } from '../models/model.ts';
import { DEFAULT_RETRY } from '../models/retry.ts';
import { createStopPolicies } from '../plugins/stop/policies.ts';
import { AgentSpec } from '../schema/agent.ts';
import type { Fixture, RecordedResult } from '../schema/dataset.ts';
import type { EvalCell, ToolMode } from '../schema/eval-run.ts';
import { Invalid } from '../schema/outcome.ts';
import { type Tool, ToolError } from '../tools/tool.ts';
import type { EvalPlan } from './plan.ts';
import { combinedScript, type ScriptedModel } from './scripted-model.ts';

/** The agent that executes a cell (evals-and-traces.md 5.2, 5.3). All cells use this id. */

const AGENT_ID = 'default';
const PROMPT = 'You are a helpful assistant.';
const FEWEST_ROUNDS = 4;

export const scriptedAgent = (fixture: Fixture, { model }: ScriptedModel): ResolvedAgent => {
  const max_rounds = Math.max(FEWEST_ROUNDS, combinedScript(fixture).length + 1);
  const spec = AgentSpec.parse({ id: AGENT_ID, model_id: model.id, system_prompt: PROMPT, max_rounds });
  return {
    spec,
    model,
    tools: new Map(),
    plugins: [],
    stop: createStopPolicies(spec),
    contextPolicy: undefined,
    compaction: undefined,
    retry: { ...DEFAULT_RETRY, max_retries: 0, max_stream_retries: 0 },
    resolution_id: '',
  };
};

type Configured = Pick<Live, 'spec' | 'compile'>;

/** @throws Invalid if the agent no longer exists, or its overridden spec is invalid */
export const liveAgent = (
  plan: EvalPlan,
  cell: EvalCell,
  fixture: Fixture,
  live: Configured,
): ResolvedAgent => {
  const spec = forced(overridden(plan, cell, live), cell.model_id, plan.tools);
  const agent = live.compile(spec);
  const bounded = { ...agent, model: withoutFloods(agent.model) };
  if (plan.tools !== 'recorded') return bounded;
  const tools = new Map(playedBack(agent.tools, fixture.tool_results ?? []));
  // Plugins of the agent contribute their tools only; their other parts are dropped.
  const plugins = agent.plugins.filter(({ id }) => !spec.plugin_ids.includes(id));
  return { ...bounded, tools, plugins };
};

const overridden = (plan: EvalPlan, cell: EvalCell, live: Configured): AgentSpec => {
  const id = cell.agent_id ?? plan.agent_id;
  const base = id === undefined ? AgentSpec.parse({ id: AGENT_ID, system_prompt: PROMPT }) : live.spec(id);
  if (!base) throw new Invalid(`agent not found: agents/${id}`);
  const variant = plan.variants?.find((each) => each.id === cell.variant_id);
  const overrides = variant ? variant.agent_overrides : plan.agent_overrides;
  if (overrides === undefined) return base;
  try {
    return applyAgentPatch(base, overrides);
  } catch (cause) {
    if (!(cause instanceof Invalid)) throw cause;
    throw new Invalid(`invalid agent override: ${cause.message}`, { cause });
  }
};

const forced = (spec: AgentSpec, model_id: string, tools: ToolMode): AgentSpec => {
  const { endpoint: _, ...local } = spec;
  const isBare = tools === 'none';
  return {
    ...local,
    id: AGENT_ID,
    model_id,
    max_rounds: spec.max_rounds === 0 ? 0 : Math.max(FEWEST_ROUNDS, spec.max_rounds),
    // Delegates are removed, because sub-agents run on threads that are stored.
    delegates: [],
    ...(isBare && {
      plugin_ids: [],
      active_hook_filter: [],
      allowed_tools: [],
      allowed_tool_patterns: null,
    }),
  };
};

/** Calls of a tool with equal arguments get the recorded results in their recorded order. */
function* playedBack(
  tools: ReadonlyMap<string, Tool>,
  recorded: readonly RecordedResult[],
): Iterable<[string, Tool]> {
  const remaining = [...recorded];
  for (const [id, { descriptor }] of tools) {
    const execute: Tool['execute'] = async (args) => {
      const at = remaining.findIndex((each) => each.name === id && isDeepStrictEqual(each.arguments, args));
      const [found] = at < 0 ? [] : remaining.splice(at, 1);
      if (!found) throw new ToolError('execution_failed', `no recorded result for this call of '${id}'`);
      if (!found.is_error) return { data: found.result };
      const { result } = found;
      const message = typeof result === 'string' ? result : JSON.stringify(result);
      throw new ToolError('execution_failed', message, { output: { data: result } });
    };
    yield [id, { descriptor, idempotent: true, exclusive: false, checksOwnArguments: true, execute }];
  }
}

/** Limits the size of a completion, whatever the model is. */
const withoutFloods = (model: Model): Model => ({
  ...model,
  stream: (request, sink, signal) => model.stream(request, countingSink(sink), signal),
});

const countingSink = (sink: InferenceSink): InferenceSink => {
  let length = 0;
  const within = (more: string): string => {
    length += more.length;
    if (length <= BOUNDS.answerLength) return more;
    throw new ModelError('provider', 'the completion has no end', { final: true });
  };
  return {
    ...sink,
    text: (delta) => sink.text(within(delta)),
    reasoning: (delta) => sink.reasoning(within(delta)),
    toolDelta: (id, delta) => sink.toolDelta(id, within(delta)),
    reset(reason) {
      length = 0;
      sink.reset?.(reason);
    },
  };
};
