/** The public API for programs that embed Troupe. Internals never leak through it. */

import { type App, startApp } from './app.ts';
import { type Client, createClient } from './client/index.ts';
import { appInput, type TroupeConfig } from './config.ts';
import { type RunAgent, runAgent } from './run-agent.ts';
import { settingsFrom } from './settings.ts';

export * from './client/index.ts';
export type { TroupeConfig } from './config.ts';
export { type DefinedAgent, defineAgent } from './define-agent.ts';
export type { RequestHead, ScopeProvider, ScopeSurface } from './http/scope.ts';
export { underPath } from './http/under-path.ts';
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
export type { AgentRun, RunAgentOptions } from './run-agent.ts';
export type { Delivery, PendingAt, PendingEdits } from './runtime/pending-edits.ts';
export type { AgentInput } from './schema/agent.ts';
export type { AnswerPart } from './schema/answer-part.ts';
export type { Clock, Ids } from './schema/clock.ts';
export type { ContentBlock, InputBlock } from './schema/message.ts';
export { type Message, textOf } from './schema/message.ts';
export type { PendingMessage } from './schema/pending.ts';
export type { ProviderCall, ProviderTool } from './schema/provider-tool.ts';
export { defineClientTool, defineTool } from './tools/define-tool.ts';
export type { PlainValue } from './tools/returned.ts';
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

/**
 * The service, and all that its clients can do (`runs`, `threads`, `events`, `config`, …), without a network between: in
 * the scope of the settings and with the rights of an admin.
 */
export type Troupe = Omit<App, 'fetchAs'> &
  Client & {
    /**
     * Runs an agent and resolves with its structured result, or with its text where it has no schema.
     *
     * @throws OutputInvalid, RunFailed
     * @example
     * const { output } = await troupe.run(triage, 'My invoice is wrong');
     */
    run: RunAgent;
    /** The same in another scope. Its threads and runs do not exist in this one. */
    inScope(scope: string): Client;
  };

/**
 * Starts the service in this process.
 *
 * @throws when a setting is not legal, an entry names something that does not exist, or the data folder cannot be used
 * @example
 * const troupe = await createTroupe({
 *   settings: { http_addr: '127.0.0.1:0', AdminApiConfig: { bearer_token: 'secret' } },
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
 */
export const createTroupe = async (config: TroupeConfig = {}): Promise<Troupe> => {
  const settings = settingsFrom(config.settings ?? {});
  const { fetchAs, ...app } = await startApp(appInput(config, settings));
  // Once it has stopped, nobody waits for it to come back.
  const inScope = (scope: string): Client =>
    createClient({
      url: 'http://troupe.internal',
      fetch: (request) => fetchAs(scope, request),
      pauses: [],
    });
  const client = inScope(settings.scope_id);
  return { ...app, ...client, inScope, run: runAgent(client) };
};
