/** The public API for programs that embed Troupe. Internals never leak through it. */

import { type App, type AppInput, startApp } from './app.ts';
import { type SettingsInput, settingsFrom } from './settings.ts';

export type { App } from './app.ts';
export type { RequestHead, ScopeProvider, ScopeSurface } from './http/scope.ts';
export { ModelError } from './models/errors.ts';
export type {
  InferenceEnd,
  InferenceRequest,
  InferenceSink,
  Model,
  Provider,
  StopReason,
} from './models/model.ts';
export type { Delivery, PendingAt, PendingEdits } from './runtime/pending-edits.ts';
export type { PendingMessage } from './schema/pending.ts';
export type { SettingsInput } from './settings.ts';
export {
  defineClientTool,
  defineTool,
  type Suspension,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolOutput,
} from './tools/tool.ts';

export type TroupeOptions = {
  /** What is left out has its default; see the table in the README. */
  settings?: SettingsInput;
} & Pick<AppInput, 'tools' | 'providers' | 'env' | 'resolveScope' | 'eventLog'>;

/**
 * Starts the service in this process.
 *
 * @throws when a setting is not legal, a record names something that does not exist, or the data folder cannot be used
 * @example
 * const troupe = await startTroupe({
 *   settings: { http_addr: '127.0.0.1:0', AdminApiConfig: { bearer_token: 'secret' } },
 *   tools: [
 *     defineTool({
 *       id: 'add',
 *       description: 'Adds two numbers',
 *       input: z.object({ a: z.number(), b: z.number() }),
 *       execute: async ({ a, b }) => ({ data: a + b }),
 *     }),
 *   ],
 * });
 * console.log(troupe.url);
 * await troupe.stop();
 */
export const startTroupe = ({ settings = {}, ...rest }: TroupeOptions = {}): Promise<App> =>
  startApp({ settings: settingsFrom(settings), ...rest });
