/**
 * The service as a function of a program, with the definitions of its tools, plugins, agents and model providers.
 *
 * `createTroupe` starts the service. All exports of `troupe/client` are exports of this module too. See
 * guides/embedding.md and guides/tools-and-plugins.md.
 *
 * @module troupe
 */

import { type App, startApp } from './app.ts';
import { type Client, createClient } from './client/index.ts';
import { appInput, type TroupeConfig } from './embedding/config.ts';
import { type RunAgent, runAgent } from './embedding/run-agent.ts';
import { adminIn, checkScope, type Principal } from './schema/principal.ts';

export { createPrincipal, type Principal } from './schema/principal.ts';

import { settingsFrom } from './settings/index.ts';

export * from './client/index.ts';
export type { TroupeConfig } from './embedding/config.ts';
export { type DefinedAgent, defineAgent } from './embedding/define-agent.ts';
export type { AgentRun, RunAgentOptions } from './embedding/run-agent.ts';
export { underPath } from './http/under-path.ts';
export type { PrincipalProvider } from './identity/authenticator.ts';
export type { RequestHead, ScopeProvider, ScopeSurface } from './identity/scope.ts';
export { defineProvider, type ProviderDefinition } from './models/define.ts';
export { ModelError } from './models/errors.ts';
export type {
  InferenceEnd,
  InferenceRequest,
  InferenceSink,
  InferenceSource,
  Model,
  Provider,
  StopReason,
} from './models/model.ts';
export { definePlugin } from './plugins/define.ts';
export type {
  ContextMessage,
  HookContext,
  HookOutcome,
  Hooks,
  InferenceOutcome,
  Plugin,
  PluginAbout,
  PluginParts,
  ScheduledAction,
  Section,
} from './plugins/plugin.ts';
export type { Delivery, PendingAt, PendingEdits } from './runtime/thread/pending-edits.ts';
export type { AgentInput } from './schema/agent.ts';
export type { AnswerPart } from './schema/answer-part.ts';
export type { Clock, Ids } from './schema/clock.ts';
export type { ContentBlock, InputBlock } from './schema/message.ts';
export { type Message, textOf } from './schema/message.ts';
export type { PendingMessage } from './schema/pending.ts';
export type { ProviderCall, ProviderTool } from './schema/provider-tool.ts';
export { defineClientTool, defineTool } from './tools/define-tool.ts';
export { defineState, type StateKey, type StateUpdate, type StateView, update } from './tools/state.ts';
export {
  type GateDecision,
  type GatedCall,
  type Suspension,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolOutput,
} from './tools/tool.ts';
export type { ToolFiles } from './tools/tool-files.ts';

/**
 * The service and the whole client API (`runs`, `threads`, `events`, `config`, …), called in-process: in the scope of
 * the settings and with admin rights.
 *
 * @example
 * ```ts
 * const drain = async (troupe: Troupe): Promise<void> => {
 *   await troupe.backup('./copy');
 *   await troupe.stop((runs) => console.log(`waiting for ${runs} runs`));
 * };
 * ```
 */
export type Troupe = Omit<App, 'fetchAs'> &
  Client & {
    /**
     * Runs an agent and resolves with its structured result, or with its text if it has no schema.
     *
     * @throws OutputInvalid, RunFailed
     * @example
     * ```ts
     * const { output } = await troupe.run('default', 'My invoice is wrong');
     * ```
     */
    run: RunAgent;
    /**
     * The client API in another scope, whose threads and runs are invisible in this one.
     * @throws Error for an invalid scope id
     */
    inScope(scope: string): Client;
    /**
     * The client API for a user with these grants.
     *
     * @throws Error for an invalid scope id or an unknown grant
     * @example
     * ```ts
     * const alice = troupe.as(createPrincipal({ scope: 'acme', user: 'alice', grants: ['member'] }));
     * ```
     */
    as(principal: Principal): Client;
  };

/**
 * Starts the service in this process. It listens at the address of its settings, unless `listen` is false.
 *
 * @throws Error when an option or a setting is invalid, an entry refers to something that does not exist, or the data
 * directory is not usable
 * @example
 * ```ts
 * const troupe = await createTroupe({
 *   settings: { http_addr: '127.0.0.1:0', storage_dir: './data', AdminApiConfig: { bearer_token: 'secret' } },
 *   tools: [
 *     defineTool({
 *       id: 'add',
 *       description: 'Adds two numbers',
 *       input: z.object({ a: z.number(), b: z.number() }),
 *       execute: ({ a, b }) => a + b,
 *     }),
 *   ],
 *   agents: [{ id: 'calculator', model_id: 'default', allowed_tools: ['add'] }],
 * });
 * const run = troupe.runs.stream({ agentId: 'calculator', messages: [{ role: 'user', content: '2 + 3?' }] });
 * console.log(await run.text());
 * await troupe.stop();
 * ```
 */
export const createTroupe = async (config: TroupeConfig = {}): Promise<Troupe> => {
  const settings = settingsFrom(config.settings ?? {});
  const { fetchAs, ...app } = await startApp(appInput(config, settings));
  // Retries are disabled: a stopped service in the same process does not return.
  const as = (principal: Principal): Client =>
    createClient({
      url: 'http://troupe.internal',
      fetch: (request) => fetchAs(principal, request),
      pauses: [],
    });
  const inScope = (scope: string): Client => as(adminIn(checkScope(scope), 'program'));
  const client = inScope(settings.scope_id);
  return { ...app, ...client, inScope, as, run: runAgent(client) };
};
