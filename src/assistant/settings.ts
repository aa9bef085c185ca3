import { z } from 'zod';
import type { Caller, ConfigService } from '../configuration/control-plane/api.ts';
import { Conflict, Invalid } from '../schema/outcome.ts';
import type { Store } from '../store/index.ts';

/**
 * Settings of the assistant (config.md 11.1): preferences and the model.
 *
 * Guarantees: a save based on an older revision is rejected, also if a concurrent save completes first.
 */

export const AssistantConfig = z
  .object({
    id: z.literal('default'),
    policy_prompt: z.string(),
    model_id: z.string().optional().meta({ description: 'without, the first usable model' }),
    revision: z.int(),
  })
  .meta({ id: 'AdminAssistantConfig', description: 'The settings of the assistant.' });
export type AssistantConfig = z.output<typeof AssistantConfig>;

export const AssistantConfigInput = z
  .object({
    id: z.string(),
    policy_prompt: z.string().default(''),
    model_id: z.string().nullish(),
    revision: z.int().nonnegative().nullish(),
  })
  .transform(({ policy_prompt, model_id, revision }) => ({
    policy_prompt: policy_prompt.trim(),
    model_id: model_id?.trim() || undefined,
    revision: revision ?? 0,
  }));
export type AssistantConfigInput = z.output<typeof AssistantConfigInput>;

export type AssistantSettings = {
  get(): AssistantConfig;
  /** @throws Invalid, Conflict */
  save(input: AssistantConfigInput, caller: Caller): Promise<AssistantConfig>;
};

type Deps = {
  store: Pick<Store, 'documents' | 'batch' | 'commit'>;
  audit: Pick<ConfigService['audit'], 'record'>;
  isUsable(modelId: string): boolean;
};

const DOCUMENT = 'admin-assistant';
const RESOURCE = 'admin-assistant/default';
const MOST_BYTES = 8192;

export const createAssistantSettings = ({ store, audit, isUsable }: Deps): AssistantSettings => {
  let saves: Promise<unknown> = Promise.resolve();

  const get = (): AssistantConfig => {
    const stored = store.documents.get(DOCUMENT);
    return stored ? AssistantConfig.parse(stored) : { id: 'default', policy_prompt: '', revision: 0 };
  };

  const check = ({ policy_prompt, model_id }: AssistantConfigInput): void => {
    if (Buffer.byteLength(policy_prompt) > MOST_BYTES)
      throw new Invalid(`policy_prompt exceeds ${MOST_BYTES} bytes`);
    if (model_id !== undefined && !isUsable(model_id))
      throw new Invalid(`model_id '${model_id}' is not a provider-backed admin assistant model`);
  };

  const write = async (input: AssistantConfigInput, caller: Caller): Promise<AssistantConfig> => {
    check(input);
    const before = get();
    if (input.revision !== before.revision) {
      throw new Conflict(
        `${RESOURCE} was modified by another writer (expected revision ${input.revision}, found ${before.revision}); retry the mutation`,
      );
    }
    const { policy_prompt, model_id } = input;
    const after: AssistantConfig = {
      id: 'default',
      policy_prompt,
      ...(model_id !== undefined && { model_id }),
      revision: before.revision + 1,
    };
    const batch = store.batch('commons');
    store.documents.put(batch, DOCUMENT, after);
    await store.commit(batch, 'input');
    const change =
      before.revision === 0 ? { action: 'create' as const } : { action: 'update' as const, before };
    await audit.record({ ...change, resource: RESOURCE, after }, caller);
    return after;
  };

  return {
    get,
    save(input, caller) {
      const saved = saves.then(() => write(input, caller));
      saves = saved.catch(() => {});
      return saved;
    },
  };
};
