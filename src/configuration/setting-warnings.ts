import { adapterName } from '../models/provider.ts';
import { isClaude } from '../models/settings/anthropic-models.ts';
import { isThinking, thinkingFor } from '../models/settings/anthropic-thinking.ts';
import { layered } from '../models/settings/layers.ts';
import { type About, type Format, fitSettings } from '../models/settings/rules.ts';
import { OPENAI_HOSTS } from '../models/structured.ts';
import type { ModelSpec, ProviderSpec } from '../schema/model.ts';
import { type ModelSettings, pickModelSettings } from '../schema/model-settings.ts';
import type { Records } from './records.ts';

/** Reports configured settings that are not sent to a model, or not as written. */

export type SettingWarning = {
  code: 'model_setting_adjusted';
  severity: 'warning';
  resource: { namespace: 'agents' | 'models'; id: string };
  depends_on: { namespace: 'models'; id: string };
  message: string;
};

type Known = Pick<Records, 'agents' | 'models' | 'model_pools' | 'providers'>;

/** An agent is checked with each model that its `model_id` resolves to. */
export function settingWarnings({ agents, models, model_pools, providers }: Known): SettingWarning[] {
  const byId = new Map(models.map((model) => [model.id, model]));
  const members = new Map(model_pools.map((pool) => [pool.id, pool.members.map(({ model_id }) => model_id)]));
  const aboutOf = (model: ModelSpec) => aboutModel(model, providers);
  const ofModels = models.flatMap((model) =>
    warn({ namespace: 'models', id: model.id }, model, pickModelSettings(model), aboutOf(model)),
  );
  const ofAgents = agents.flatMap((agent) => {
    if (agent.endpoint) return [];
    const own = pickModelSettings(agent);
    if (Object.keys(own).length === 0) return [];
    return (members.get(agent.model_id) ?? [agent.model_id]).flatMap((id) => {
      const model = byId.get(id);
      return model ? warn({ namespace: 'agents', id: agent.id }, model, own, aboutOf(model)) : [];
    });
  });
  return [...ofModels, ...ofAgents];
}

/** `own` contains the settings of the resource; only these are reported. */
function warn(
  resource: SettingWarning['resource'],
  model: ModelSpec,
  own: ModelSettings,
  about: About | undefined,
): SettingWarning[] {
  if (!about) return [];
  const settings = layered(pickModelSettings(model), own);
  const { reasoning_effort } = fitSettings(settings, about).settings;
  const thinks = about.format === 'anthropic' && isThinking(thinkingFor(reasoning_effort, about.upstream));
  return fitSettings(settings, { ...about, thinks })
    .adjusted.filter(({ setting }) => Object.hasOwn(own, setting))
    .map(({ setting, sent, reason }) => ({
      code: 'model_setting_adjusted',
      severity: 'warning',
      resource,
      depends_on: { namespace: 'models', id: model.id },
      message: `${setting} of ${resource.namespace === 'agents' ? 'agent' : 'model'} '${resource.id}' is ${
        sent === null ? 'not sent' : `sent as ${JSON.stringify(sent)}`
      } to model '${model.id}' (${model.upstream_model}): ${reason}`,
    }));
}

const FORMATS: Readonly<Record<string, Format>> = {
  anthropic: 'anthropic',
  openai_resp: 'openai-responses',
  gemini: 'gemini',
  vertex: 'gemini',
  // The rules of ConverseStream are those of the Messages protocol.
  bedrock: 'anthropic',
};

const formatOf = (adapter: string, upstream: string, options: ProviderSpec['adapter_options']): Format => {
  if (adapter === 'vertex' && isClaude(upstream)) return 'anthropic';
  if (adapter === 'azure' && options?.api === 'responses') return 'openai-responses';
  return FORMATS[adapter] ?? 'openai-chat';
};

/** Returns undefined for a provider that is not configured here: an embedded one, or a missing one. */
function aboutModel(model: ModelSpec, providers: readonly ProviderSpec[]): About | undefined {
  const provider = providers.find(({ id }) => id === model.provider_id);
  const adapter = provider && adapterName(provider.adapter);
  if (adapter === undefined || adapter === 'scripted') return undefined;
  const { upstream_model: upstream, max_output_tokens: mostTokens } = model;
  const base = provider?.base_url;
  const format = formatOf(adapter, upstream, provider?.adapter_options);
  const isOpenAi =
    format === 'openai-responses' ||
    adapter === 'azure' ||
    (adapter === 'openai' && (!base || (URL.canParse(base) && OPENAI_HOSTS.test(new URL(base).hostname))));
  return { format, adapter, upstream, isOpenAi, mostTokens };
}
