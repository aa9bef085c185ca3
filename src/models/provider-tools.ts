import type { ProviderTool, ProviderToolType } from '../schema/provider-tool.ts';
import type { InferenceRequest } from './model.ts';

/**
 * Decides which provider tools a request may offer, as the providers document it.
 *
 * Guarantees: a request never contains a tool that its provider is documented to reject. A tool whose limits the
 * provider cannot apply is not offered either, because the model would otherwise exceed them; an option that is only a
 * hint is omitted instead. A model that no rule names is assumed to have all tools of its provider.
 */

/** The properties of a request that the rules depend on. */
export type ToolPlace = {
  adapter: string;
  /** The name of the model at the provider. */
  upstream: string;
  /** Whether the request also offers tools of the service. */
  hasFunctions: boolean;
};

export type LeftOutTool = { type: ProviderToolType; reason: string };

type Rule = (tool: ProviderTool, place: ToolPlace, others: readonly ProviderTool[]) => string | undefined;

/** Tools by adapter. Adapters that are not listed have none. */
const ADAPTER_TOOLS: Readonly<
  Record<string, { types: readonly ProviderToolType[]; rules: readonly Rule[] }>
> = {
  anthropic: {
    types: ['web_search', 'web_fetch', 'code_execution'],
    rules: [
      lacking('web_search', /claude-(2|instant|3-(haiku|opus|sonnet))/),
      lacking('web_fetch', /claude-(2|instant|3-(haiku|opus|sonnet))/),
      lacking('code_execution', /claude-(2|instant|3-(haiku|opus|sonnet)|3-5-sonnet)/),
      withoutOption('code_execution', 'file_ids'),
    ],
  },
  openai_resp: {
    types: ['web_search', 'code_execution', 'file_search'],
    rules: [
      lacking('web_search', /^(gpt-3|gpt-4(-|$)|gpt-4\.1-nano|o1-mini|o1-preview|o3-mini)/),
      lacking('code_execution', /^(gpt-3|gpt-4(-|$)|o1-mini|o1-preview)/),
      lacking('file_search', /^(gpt-3|o1-mini|o1-preview)/),
      // The limit of a request covers all provider tools together.
      (tool, _place, others) =>
        'max_uses' in tool && tool.max_uses !== undefined && others.length > 0
          ? 'OpenAI applies max_uses only where the agent has no other provider tool'
          : undefined,
    ],
  },
  gemini: {
    types: ['web_search', 'web_fetch', 'code_execution', 'file_search'],
    rules: [
      ...geminiRules(),
      withoutOption('web_search', 'blocked_domains'),
      lacking('file_search', /^gemini-(1|2\.0)/),
      (tool, _place, others) =>
        tool.type === 'file_search' && others.length > 0
          ? 'Gemini has no file search in a request with another provider tool'
          : undefined,
      (_tool, { upstream, hasFunctions }) =>
        hasFunctions && !combinesTools(upstream)
          ? `model '${upstream}' has no provider tools in a request with tools of the service`
          : undefined,
    ],
  },
  vertex: {
    types: ['web_search', 'web_fetch', 'code_execution'],
    rules: [
      ...geminiRules(),
      (_tool, { hasFunctions }) =>
        hasFunctions ? 'Vertex AI has no provider tools in a request with tools of the service' : undefined,
    ],
  },
};

/**
 * Models from Gemini 3 on accept provider tools and functions in one request. An unknown name counts as a newer
 * generation.
 */
function combinesTools(upstream: string): boolean {
  return /^gemini-/.test(upstream) && !/^gemini-([12]([.-]|$)|pro(-vision)?$|robotics-er-1)/.test(upstream);
}

function geminiRules(): Rule[] {
  return [
    ...(['web_search', 'web_fetch', 'code_execution', 'file_search'] as const).map((type) =>
      lacking(type, /^(gemma|gemini-(1|pro))/),
    ),
    lacking('web_fetch', /^gemini-2\.0/),
    lacking('code_execution', /^gemini-2\.0-flash-lite/),
    withoutOption('web_search', 'allowed_domains'),
    withoutOption('web_search', 'max_uses'),
    withoutOption('web_fetch', 'allowed_domains'),
    withoutOption('web_fetch', 'blocked_domains'),
    withoutOption('web_fetch', 'max_uses'),
    withoutOption('code_execution', 'file_ids'),
  ];
}

function lacking(type: ProviderToolType, models: RegExp): Rule {
  return (tool, { upstream }) =>
    tool.type === type && models.test(upstream) ? `model '${upstream}' has no ${type}` : undefined;
}

/** The provider has the tool, but cannot apply the option. */
function withoutOption(type: ProviderToolType, option: string): Rule {
  return (tool, { adapter }) =>
    tool.type === type && Object.entries(tool).some(([name, value]) => name === option && value !== undefined)
      ? `adapter '${adapter}' cannot apply ${option} to ${type}`
      : undefined;
}

/** The reason for which the provider does not execute a tool; undefined if it does. */
const reasonAgainst = (
  tool: ProviderTool,
  given: ToolPlace,
  all: readonly ProviderTool[],
): string | undefined => {
  const known = Object.hasOwn(ADAPTER_TOOLS, given.adapter) ? ADAPTER_TOOLS[given.adapter] : undefined;
  if (!known?.types.includes(tool.type)) return `adapter '${given.adapter}' has no ${tool.type}`;
  const place = { ...given, upstream: plainName(given.upstream) };
  const others = all.filter((each) => each !== tool);
  for (const rule of known.rules) {
    const reason = rule(tool, place, others);
    if (reason !== undefined) return reason;
  }
  return undefined;
};

/** Reduces `models/gemini-3-pro` and `publishers/google/models/gemini-3-pro` to `gemini-3-pro`. */
const plainName = (upstream: string): string => upstream.trim().toLowerCase().replace(/^.*\//, '');

export const judgeTools = (
  tools: readonly ProviderTool[],
  place: ToolPlace,
): { offered: ProviderTool[]; leftOut: LeftOutTool[] } => {
  const offered: ProviderTool[] = [];
  const leftOut: LeftOutTool[] = [];
  for (const tool of tools) {
    const reason = reasonAgainst(tool, place, tools);
    if (reason === undefined) offered.push(tool);
    else leftOut.push({ type: tool.type, reason });
  }
  return { offered, leftOut };
};

/** The request with only those tools that its provider executes for this model. */
export const withOfferedTools = (
  request: InferenceRequest,
  { adapter, upstream }: Pick<ToolPlace, 'adapter' | 'upstream'>,
): InferenceRequest => {
  const { provider_tools: tools = [], tools: functions, toolChoice } = request;
  if (tools.length === 0) return request;
  // The request forbids tool calls or forces a call of a service tool.
  if (toolChoice === 'none' || typeof toolChoice === 'object') return { ...request, provider_tools: [] };
  const place = { adapter, upstream, hasFunctions: functions.length > 0 };
  return { ...request, provider_tools: judgeTools(tools, place).offered };
};
