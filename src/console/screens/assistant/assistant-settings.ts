import { type Guarded, number, object, optional, text, withDefault } from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';

/** Settings of the assistant. A save sends the revision on which it is based. */

export const AssistantConfig = object({
  policy_prompt: withDefault(text, ''),
  model_id: optional(text),
  revision: number,
});
export type AssistantConfig = Guarded<typeof AssistantConfig>;

export const PATH = '/v1/admin/assistant/config';

export const assistantConfig: Resource<AssistantConfig> = { path: PATH, guard: AssistantConfig };

export const MOST_BYTES = 8192;

/** Counted like the service: UTF-8 bytes. */
export const bytesOf = (policy: string): number => new TextEncoder().encode(policy.trim()).length;

/** The edited settings; an empty model id lets the service choose the model. */
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
