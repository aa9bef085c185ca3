/** The public API for programs that embed Troupe. Internals never leak through it. */

import { type App, startApp } from './app.ts';
import { appInput, type TroupeConfig } from './config.ts';
import { settingsFrom } from './settings.ts';

export type { App as Troupe } from './app.ts';
export type { TroupeConfig } from './config.ts';
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
export type { Delivery, PendingAt, PendingEdits } from './runtime/pending-edits.ts';
export type { AgentInput } from './schema/agent.ts';
export type { AnswerPart } from './schema/answer-part.ts';
export type { Clock, Ids } from './schema/clock.ts';
export { type Message, textOf } from './schema/message.ts';
export type { PendingMessage } from './schema/pending.ts';
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
 * console.log(troupe.url);
 * await troupe.stop();
 */
export const createTroupe = async (config: TroupeConfig = {}): Promise<App> =>
  startApp(appInput(config, settingsFrom(config.settings ?? {})));
