import type { Caller, ConfigService } from '../configuration/control-plane/api.ts';
import type { LiveModels } from '../configuration/control-plane/live.ts';
import { ADMIN, type EphemeralInput, type EphemeralRun, type Runtime } from '../runtime/index.ts';
import type { JsonObject } from '../schema/endpoint.ts';
import { Conflict } from '../schema/outcome.ts';
import { maskForeign } from '../schema/redaction/foreign.ts';
import type { Store } from '../store/index.ts';
import { ASSISTANT_ID, assistantAgent } from './agent.ts';
import { chooseModel, isUsable } from './model.ts';
import { systemPrompt } from './prompt.ts';
import { type AssistantSettings, createAssistantSettings } from './settings.ts';
import { BOUND_TOOLS, type BoundToolDeps, boundTools, needsConfirmation } from './tools.ts';

/**
 * The admin assistant (config.md 11): an agent of the service itself, for callers that may change the configuration.
 * Its runs are ephemeral; its tools change the configuration through the same path as every other change.
 */

export type Assistant = {
  readonly settings: AssistantSettings;
  /** Its part of the capabilities (config.md 10). */
  capabilities(): JsonObject;
  /** @throws Conflict if no model is available for it */
  open(caller: Caller): AssistantSession;
};

export type AssistantRun = Omit<EphemeralInput, 'agent' | 'adapter' | 'failed' | 'spender'>;

/** The model and the settings are those at the time it was opened. */
export type AssistantSession = { run(input: AssistantRun): EphemeralRun };

export type AssistantDeps = {
  config: BoundToolDeps['config'] &
    Pick<ConfigService, 'list' | 'providerSpec'> & { audit: Pick<ConfigService['audit'], 'record'> };
  store: Pick<Store, 'documents' | 'batch' | 'commit'>;
  runtime: Pick<Runtime, 'ephemeral'>;
  live(): LiveModels;
  /** Whether the provider rejected its key in its newest inference. */
  hasRejectedKey(provider: string): boolean;
  log: BoundToolDeps['log'];
};

const NO_MODELS = 'Configure and publish the first model to enable the admin assistant.';
const NO_REAL_MODEL = 'Configure a provider-backed model to enable the admin assistant.';

const NO_MODEL_YET = 'configure and publish the first model before using the admin assistant';
const NO_REAL_MODEL_YET = `${NO_MODEL_YET}: it has to be provider-backed, scripted models do not count`;

const isEmpty = ({ models, model_pools }: LiveModels): boolean => models.length + model_pools.length === 0;

export const createAssistant = (deps: AssistantDeps): Assistant => {
  const { config, store, runtime, live, hasRejectedKey, log } = deps;
  const settings = createAssistantSettings({
    store,
    audit: config.audit,
    isUsable: (id) => isUsable(live(), id),
  });

  return {
    settings,
    capabilities() {
      const models = live();
      const { model_id: configured = null } = settings.get();
      const model_id = chooseModel(models, configured ?? undefined, hasRejectedKey) ?? null;
      return {
        id: ASSISTANT_ID,
        status: model_id === null ? 'disabled' : 'enabled',
        enabled: model_id !== null,
        disabled_reason: model_id === null ? (isEmpty(models) ? NO_MODELS : NO_REAL_MODEL) : null,
        model_id,
        config: { model_id: configured },
        ...FIXED,
      };
    },
    open(caller) {
      const models = live();
      const { policy_prompt, model_id: configured } = settings.get();
      const model_id = chooseModel(models, configured, hasRejectedKey);
      if (model_id === undefined) throw new Conflict(isEmpty(models) ? NO_MODEL_YET : NO_REAL_MODEL_YET);
      const tools = boundTools({ config, caller, model_id, agent_id: ASSISTANT_ID, mask: maskForeign, log });
      const agent = assistantAgent(models, { model_id, system_prompt: systemPrompt(policy_prompt), tools });
      return {
        run: (input) =>
          runtime.ephemeral({
            ...input,
            agent,
            adapter: 'ai_sdk',
            spender: ADMIN,
            failed: (reason) => `admin assistant run failed: ${maskForeign(reason)}`,
          }),
      };
    },
  };
};

/** Properties that a deployment cannot change. */
const FIXED: JsonObject = {
  visibility: 'admin_only',
  endpoint: '/v1/admin/assistant/runs',
  prompt: { editable: true, storage: '/v1/admin/assistant/config', system_prompt_locked: true },
  tools_locked: true,
  bound_tools: Object.entries(BOUND_TOOLS).map(([id, { label, description }]) => ({
    id,
    label,
    description,
    visibility: 'admin_assistant_only',
    selectable_by_agents: false,
    exposable_to_protocols: false,
    requires_confirmation: needsConfirmation(id),
  })),
};
