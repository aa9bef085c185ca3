import t, { type Test } from 'tap';
import { createAssistant } from '../../src/assistant/assistant.ts';
import { AssistantConfigInput } from '../../src/assistant/settings.ts';
import type { LiveModels } from '../../src/configuration/control-plane/live.ts';
import { storeFor } from '../store/open.ts';
import { CALLER, liveModels, memoryConfig } from './config.ts';

const real = { id: 'real', adapter: 'openai', api_key: 'sk-key' };
const model = (id: string, provider_id: string) => ({ id, provider_id, upstream_model: id });

const ENABLED = liveModels({ providers: [real], models: [model('b', 'real'), model('a', 'real')] });

const start = async (t: Test, first: LiveModels) => {
  let live = first;
  const assistant = createAssistant({
    config: memoryConfig().config,
    store: await storeFor(t),
    runtime: {
      ephemeral: () => {
        throw new Error('no run is started here');
      },
    },
    live: () => live,
    hasRejectedKey: () => false,
    log: { info() {}, error() {} },
  });
  return {
    assistant,
    publish: (next: LiveModels) => {
      live = next;
    },
  };
};

t.test('with a usable model the assistant is enabled, and describes itself completely', async (t) => {
  const { assistant } = await start(t, ENABLED);
  const { bound_tools, ...rest } = assistant.capabilities();
  t.strictSame(rest, {
    id: '__admin_assistant',
    status: 'enabled',
    enabled: true,
    disabled_reason: null,
    model_id: 'a',
    config: { model_id: null },
    visibility: 'admin_only',
    endpoint: '/v1/admin/assistant/runs',
    prompt: { editable: true, storage: '/v1/admin/assistant/config', system_prompt_locked: true },
    tools_locked: true,
  });
  t.match(bound_tools, [
    {
      id: 'admin_get_platform_capabilities',
      label: 'Read platform capabilities',
      description: String,
      visibility: 'admin_assistant_only',
      selectable_by_agents: false,
      exposable_to_protocols: false,
      requires_confirmation: false,
    },
    { id: 'admin_create_agent_draft', requires_confirmation: false },
    { id: 'admin_validate_agent', requires_confirmation: false },
    { id: 'admin_create_agent', requires_confirmation: true },
  ]);
});

const DISABLED = { status: 'disabled', enabled: false, model_id: null };

t.test('without a model the assistant is disabled, and says what to do', async (t) => {
  const { assistant } = await start(t, liveModels({}));
  t.match(assistant.capabilities(), {
    ...DISABLED,
    disabled_reason: 'Configure and publish the first model to enable the admin assistant.',
  });
  t.throws(() => assistant.open(CALLER), { name: 'Conflict', message: /before using the admin assistant$/ });
});

t.test('with only scripted models the assistant is disabled, and does not run', async (t) => {
  const providers = [{ id: 'played', adapter: 'scripted' }];
  const { assistant } = await start(t, liveModels({ providers, models: [model('a', 'played')] }));
  t.match(assistant.capabilities(), {
    ...DISABLED,
    disabled_reason: 'Configure a provider-backed model to enable the admin assistant.',
  });
  t.throws(() => assistant.open(CALLER), {
    name: 'Conflict',
    message:
      'configure and publish the first model before using the admin assistant: it has to be provider-backed, ' +
      'scripted models do not count',
  });
});

t.test('uses a configured model, and does not replace it when it is removed', async (t) => {
  const { assistant, publish } = await start(t, ENABLED);
  await assistant.settings.save(AssistantConfigInput.parse({ id: 'default', model_id: 'b' }), CALLER);
  t.match(assistant.capabilities(), { enabled: true, model_id: 'b', config: { model_id: 'b' } });
  publish(liveModels({ providers: [real], models: [model('a', 'real')] }));
  t.match(assistant.capabilities(), { enabled: false, model_id: null, config: { model_id: 'b' } });
  t.throws(() => assistant.open(CALLER), { name: 'Conflict' });
});
