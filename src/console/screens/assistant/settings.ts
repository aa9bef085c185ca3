import { type Guarded, number, object, optional, text, withDefault } from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';

/** What an operator may set of the assistant. A save names the revision that it was made from. */

export const AssistantConfig = object({
  policy_prompt: withDefault(text, ''),
  model_id: optional(text),
  revision: number,
});
export type AssistantConfig = Guarded<typeof AssistantConfig>;

export const PATH = '/v1/admin/assistant/config';

export const assistantConfig: Resource<AssistantConfig> = { path: PATH, guard: AssistantConfig };

export const MOST_BYTES = 8192;

/** As the service counts: UTF-8. */
export const bytesOf = (policy: string): number => new TextEncoder().encode(policy.trim()).length;

/** As it is edited; an empty model is the one that the service chooses. */
export type Form = { policy: string; modelId: string };

export const formOf = ({ policy_prompt, model_id }: AssistantConfig): Form => ({
  policy: policy_prompt,
  modelId: model_id ?? '',
});

export const isChanged = (form: Form, config: AssistantConfig): boolean => {
  const stored = formOf(config);
  return form.policy.trim() !== stored.policy || form.modelId !== stored.modelId;
};

export const bodyOf = ({ policy, modelId }: Form, { revision }: AssistantConfig): object => ({
  id: 'default',
  policy_prompt: policy,
  model_id: modelId === '' ? null : modelId,
  revision,
});
