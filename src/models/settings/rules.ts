import type { Json, JsonObject } from '../../schema/json.ts';
import { MODEL_SETTINGS, type ModelSetting } from '../../schema/model-setting-names.ts';
import type { ModelSettings } from '../../schema/model-settings.ts';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';
import { isOpenAiThinker, nearestNamedEffort } from '../effort.ts';
import type { InferenceRequest, SentSettings } from '../model.ts';
import { isClaude, limitsOf, thinksAtAll } from './anthropic-models.ts';
import { acceptedEfforts, wireEffort } from './efforts.ts';
import { alwaysThinksGemini, thinksGemini } from './gemini-models.ts';

/**
 * The settings that a provider or a model is documented to reject, in one table. Such a setting is omitted or replaced
 * before the request is encoded, because the provider would otherwise reject the whole request; each change is reported
 * with its reason.
 */

export const FORMATS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'] as const;
export type Format = (typeof FORMATS)[number];

/** The model and the request to which the settings apply. */
export type About = {
  format: Format;
  /** The canonical adapter name; undefined if unknown. */
  adapter?: string | undefined;
  upstream: string;
  /** Whether the service is OpenAI itself or Azure. */
  isOpenAi?: boolean;
  /** Whether the model reasons in this request, as far as the request determines it. */
  thinks?: boolean;
  /** The tools that the request offers; absent if not known yet. */
  tools?: readonly Pick<ToolDescriptor, 'id'>[] | undefined;
  /** The `max_output_tokens` of the model. */
  mostTokens?: number | undefined;
};

type Rule = {
  setting: ModelSetting;
  formats: readonly Format[];
  reason: string;
  /** `kept`: the rule does not apply. `sent` undefined: the setting is omitted. */
  apply(settings: ModelSettings, about: About): 'kept' | { sent: Json | undefined };
};

type Given<Name extends ModelSetting> = NonNullable<ModelSettings[Name]>;

const OPENAI: readonly Format[] = ['openai-chat', 'openai-responses'];

function rule<Name extends ModelSetting>(
  setting: Name,
  formats: readonly Format[],
  reason: string,
  {
    when = () => true,
    instead = () => undefined,
  }: {
    when?: (value: Given<Name>, about: About, settings: ModelSettings) => boolean;
    instead?: (value: Given<Name>, about: About) => Given<Name> | undefined;
  } = {},
): Rule {
  return {
    setting,
    formats,
    reason,
    apply(settings, about) {
      const value = settings[setting];
      if (value === undefined || !when(value as Given<Name>, about, settings)) return 'kept';
      // By its schema, the value of a setting is JSON.
      return { sent: instead(value as Given<Name>, about) as Json | undefined };
    },
  };
}

/** OpenAI's models from 5.1 to 5.x accept sampling settings unless they reason. */
const SAMPLES_WITHOUT_REASONING = /^(openai\/)?gpt-5\.[1-9]/;

function refusesSampling({ upstream, adapter }: About, { reasoning_effort: effort }: ModelSettings): boolean {
  if (!isOpenAiThinker(upstream)) return false;
  const reasons = effort === undefined || wireEffort(effort, upstream, adapter) !== 'none';
  return reasons || !SAMPLES_WITHOUT_REASONING.test(upstream);
}

const hasVerbosity = (upstream: string): boolean =>
  /^(openai\/)?gpt-([5-9]|1\d)(?!\d|.*-(chat|codex))/.test(upstream);

/** The documented values by adapter. Other services have no tiers or are unknown. */
const TIERS: Readonly<Record<string, readonly string[]>> = {
  openai: ['auto', 'default', 'flex', 'priority', 'scale', 'fast', 'ultrafast'],
  openai_resp: ['auto', 'default', 'flex', 'priority', 'scale', 'fast', 'ultrafast'],
  groq: ['auto', 'on_demand', 'flex', 'performance'],
  anthropic: ['auto', 'standard_only'],
  gemini: ['standard', 'flex', 'priority'],
  bedrock: ['default', 'priority', 'flex', 'reserved'],
};

/** Compatible services whose documentation names no tiers. */
const WITHOUT_TIERS = [
  'deepseek',
  'ollama',
  'ollama_cloud',
  'cohere',
  'together',
  'zai',
  'bigmodel',
  'mimo',
  'vertex',
  'mistral',
  'vllm',
  'lmstudio',
];

const isTier = (tier: string, { adapter, isOpenAi, format }: About): boolean => {
  const name = format === 'openai-chat' && isOpenAi ? 'openai' : adapter;
  // The adapter `openai` with another address may be any service.
  if (name === undefined || (name === 'openai' && format === 'openai-chat' && !isOpenAi)) return true;
  return Object.hasOwn(TIERS, name) ? (TIERS[name]?.includes(tier) ?? false) : !WITHOUT_TIERS.includes(name);
};

const hasFlex = (upstream: string): boolean =>
  /^(openai\/)?(o[3-9]|gpt-([5-9]|1\d)(?!\d|-chat))/.test(upstream);
const hasPriority = (upstream: string): boolean =>
  /^(openai\/)?(gpt-4|o[3-9]|gpt-([5-9]|1\d)(?!\d|-chat|-nano))/.test(upstream);

const isGrokReasoner = ({ adapter, upstream }: About): boolean =>
  adapter === 'xai' && /^grok-(3-mini|[4-9]|code|latest)/.test(upstream) && !/non-reasoning/.test(upstream);

const hasNoTools = ({ tools }: About): boolean => tools?.length === 0;

const INT32 = 2 ** 31;

/** Order matters: a later rule receives the settings after earlier changes. */
export const RULES: readonly Rule[] = [
  rule('max_tokens', FORMATS, 'it exceeds the max_output_tokens of the model', {
    when: (tokens, { mostTokens }) => mostTokens !== undefined && tokens > mostTokens,
    instead: (_, { mostTokens }) => mostTokens,
  }),
  rule('reasoning_effort', OPENAI, 'the model does not reason, or has no setting for it', {
    when: (_, { upstream, adapter }) => acceptedEfforts(upstream, adapter).length === 0,
  }),
  rule('reasoning_effort', ['openai-responses'], 'the model does not reason, or has no setting for it', {
    when: (_, { upstream }) => !isOpenAiThinker(upstream),
  }),
  rule('reasoning_effort', ['anthropic'], 'the model does not think', {
    when: (effort, { upstream }) => nearestNamedEffort(effort) !== 'none' && !thinksAtAll(upstream),
  }),
  rule('reasoning_effort', ['anthropic'], 'the model does not reason, or has no setting for it', {
    when: (_, { upstream, adapter }) =>
      adapter === 'bedrock' && !isClaude(upstream) && acceptedEfforts(upstream, adapter).length === 0,
  }),
  rule('reasoning_effort', ['gemini'], 'the model does not think', {
    when: (_, { upstream }) => !thinksGemini(upstream),
  }),
  rule('temperature', OPENAI, 'the model accepts no temperature while it reasons', {
    when: (_, about, settings) => refusesSampling(about, settings),
  }),
  rule('temperature', ['openai-chat'], 'search models accept no temperature', {
    when: (_, { upstream }) => /^(openai\/)?gpt-4o(-mini)?-search-preview/.test(upstream),
  }),
  rule('temperature', ['anthropic'], 'the model accepts no sampling settings', {
    when: (_, { upstream }) => limitsOf(upstream).fixedSampling === true,
  }),
  rule('temperature', ['anthropic'], 'it cannot be combined with thinking', {
    when: (_, { thinks }) => thinks === true,
  }),
  rule('temperature', ['anthropic'], 'the provider accepts a temperature from 0 to 1', {
    when: (temperature) => temperature < 0 || temperature > 1,
    instead: (temperature) => Math.min(1, Math.max(0, temperature)),
  }),
  rule('top_p', OPENAI, 'the model accepts no top_p while it reasons', {
    when: (_, about, settings) => refusesSampling(about, settings),
  }),
  rule('top_p', ['anthropic'], 'the model accepts no sampling settings', {
    when: (_, { upstream }) => limitsOf(upstream).fixedSampling === true,
  }),
  rule('top_p', ['anthropic'], 'it cannot be combined with thinking', {
    when: (_, { thinks }) => thinks === true,
  }),
  rule('top_p', ['anthropic'], 'Claude accepts no top_p together with a temperature', {
    when: (_, { upstream }, { temperature }) => temperature !== undefined && isClaude(upstream),
  }),
  rule('stop', ['openai-responses'], 'the Responses API has no stop sequences'),
  rule('stop', ['openai-chat'], 'reasoning models accept no stop sequences', {
    when: (_, about) => isOpenAiThinker(about.upstream) || isGrokReasoner(about),
  }),
  rule('stop', ['openai-chat'], 'the provider accepts at most 4 stop sequences', {
    when: (stop, { isOpenAi, adapter }) => stop.length > 4 && (isOpenAi === true || adapter === 'groq'),
    instead: (stop) => stop.slice(0, 4),
  }),
  rule('stop', ['gemini'], 'the provider accepts at most 5 stop sequences', {
    when: (stop) => stop.length > 5,
    instead: (stop) => stop.slice(0, 5),
  }),
  rule('stop', ['anthropic'], 'the provider accepts no stop sequences that consist of white space', {
    when: (stop) => stop.some((text) => text.trim() === ''),
    instead: (stop) => {
      const kept = stop.filter((text) => text.trim() !== '');
      return kept.length > 0 ? kept : undefined;
    },
  }),
  rule('seed', ['openai-responses'], 'the Responses API has no seed'),
  rule('seed', ['anthropic'], 'the provider has no seed'),
  rule('seed', ['gemini'], 'the seed of the provider is a 32-bit integer', {
    when: (seed) => seed < -INT32 || seed >= INT32,
  }),
  ...(['presence_penalty', 'frequency_penalty'] as const).flatMap((penalty) => [
    rule(penalty, ['openai-responses'], 'the Responses API has no penalties'),
    rule(penalty, ['anthropic'], 'the provider has no penalties'),
    rule(penalty, ['gemini'], 'models of the provider reject penalties'),
    rule(penalty, ['openai-chat'], 'reasoning models accept no penalties', {
      when: (_, about) => isOpenAiThinker(about.upstream) || isGrokReasoner(about),
    }),
  ]),
  rule('tool_choice', FORMATS, 'the request has no tools', { when: (_, about) => hasNoTools(about) }),
  rule('tool_choice', FORMATS, 'the request does not offer the tool', {
    when: (choice, { tools }) =>
      typeof choice === 'object' && tools !== undefined && !tools.some(({ id }) => id === choice.tool),
  }),
  rule('tool_choice', ['anthropic'], 'no call can be forced while the model thinks', {
    when: (choice, { upstream, thinks }) =>
      choice !== 'auto' &&
      choice !== 'none' &&
      (thinks === true || limitsOf(upstream).refusesForcedTools === true),
    instead: () => 'auto',
  }),
  rule('parallel_tool_calls', ['gemini'], 'the provider has no such setting'),
  rule('parallel_tool_calls', ['anthropic'], 'the provider has no such setting', {
    when: (_, { adapter }) => adapter === 'bedrock',
  }),
  rule('parallel_tool_calls', FORMATS, 'the request has no tools', {
    when: (_, about) => hasNoTools(about),
  }),
  rule('parallel_tool_calls', ['openai-chat'], 'the model has no such setting', {
    when: (_, { upstream, adapter }) => /^(openai\/)?o\d/.test(upstream) || adapter === 'cohere',
  }),
  rule('parallel_tool_calls', OPENAI, 'the model makes no parallel calls with minimal effort', {
    when: (isParallel, { upstream, adapter }, { reasoning_effort: effort }) =>
      isParallel && effort !== undefined && wireEffort(effort, upstream, adapter) === 'minimal',
  }),
  rule('verbosity', OPENAI, 'only GPT-5 and later models of OpenAI have a verbosity', {
    when: (_, { upstream, adapter }) => !hasVerbosity(upstream) && adapter !== 'openrouter',
  }),
  rule('verbosity', ['anthropic', 'gemini'], 'the provider has no such setting'),
  rule('service_tier', FORMATS, 'the provider has no such tier', {
    when: (tier, about) => !isTier(tier, about),
  }),
  rule('service_tier', OPENAI, 'the model is not offered in this tier', {
    when: (tier, { upstream, isOpenAi }) =>
      isOpenAi === true &&
      ((tier === 'flex' && !hasFlex(upstream)) ||
        ((tier === 'priority' || tier === 'fast') && !hasPriority(upstream))),
  }),
];

export type Fitted = { settings: ModelSettings; adjusted: SentSettings['adjusted'] };

/** Returns the settings that the provider accepts, and the changes to the others. */
export function fitSettings(overrides: InferenceRequest['overrides'], about: About): Fitted {
  let settings = withoutNulls(overrides);
  const adjusted: SentSettings['adjusted'][number][] = [];
  for (const { setting, formats, reason, apply } of RULES) {
    if (!formats.includes(about.format)) continue;
    const outcome = apply(settings, about);
    if (outcome === 'kept') continue;
    const { [setting]: _, ...others } = settings;
    settings = outcome.sent === undefined ? others : { ...settings, [setting]: outcome.sent };
    adjusted.push({ setting, sent: outcome.sent ?? null, reason });
  }
  const lowest = lowestEffort(settings, about);
  if (lowest !== undefined) adjusted.push(lowest);
  return { settings, adjusted };
}

/** For `none`, a model that always reasons receives its lowest effort. */
function lowestEffort(
  { reasoning_effort: effort }: ModelSettings,
  { format, upstream, adapter }: About,
): SentSettings['adjusted'][number] | undefined {
  if (effort === undefined || nearestNamedEffort(effort) !== 'none') return undefined;
  const entry = { setting: 'reasoning_effort', reason: 'the model always reasons' };
  if (OPENAI.includes(format)) {
    const sent = wireEffort(effort, upstream, adapter);
    return sent === undefined || sent === 'none' ? undefined : { ...entry, sent };
  }
  const always = format === 'anthropic' ? limitsOf(upstream).alwaysThinks : alwaysThinksGemini(upstream);
  return always ? { ...entry, sent: 'low' } : undefined;
}

function withoutNulls(overrides: InferenceRequest['overrides']): ModelSettings {
  return Object.fromEntries(
    MODEL_SETTINGS.flatMap((name) => (overrides[name] == null ? [] : [[name, overrides[name]]])),
    // Each name keeps its value, which is not null.
  ) as ModelSettings;
}

/** Reports the sent settings for the trace. `encoded`: values that the format computed. */
export function sentSettings(
  { settings, adjusted }: Fitted,
  encoded: { [Name in ModelSetting]?: Json | undefined } = {},
): SentSettings {
  const sent = { ...settings, ...encoded };
  return {
    // By their schema, settings are JSON.
    settings: Object.fromEntries(
      Object.entries(sent).filter(([, value]) => value !== undefined),
    ) as JsonObject,
    adjusted,
  };
}
